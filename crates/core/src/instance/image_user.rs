//! The user that an image names, for instances whose agent is root because of the flake's scripts.

use std::fmt;

/// As whom calls run, by the instance's own `/etc/passwd` and `/etc/group`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageUser {
    /// User id.
    pub uid: u32,
    /// Primary group id.
    pub gid: u32,
    /// All group ids, the primary one with them.
    pub groups: Vec<u32>,
    /// The home directory.
    pub home: String,
}

impl ImageUser {
    /// Finds the user of an image's `USER`: `USER` or `USER:GROUP`, names or numbers. A group of its own is the only
    /// one; else the user has the groups of passwd(5) and group(5). A number without a line is at home in `workdir`, as
    /// podman has it. None where a name is unknown.
    #[must_use]
    pub fn find(word: &str, (passwd, group): (&str, &str), workdir: &str) -> Option<Self> {
        let (user, own_group) =
            word.split_once(':').map_or((word, None), |(user, group)| (user, Some(group)));
        let number: Option<u32> = user.parse().ok();
        let entry = passwd.lines().filter_map(Entry::parse).find(|entry| match number {
            Some(number) => entry.uid == number,
            None => entry.name == user,
        });
        let uid = number.or(entry.as_ref().map(|entry| entry.uid))?;
        let home = entry.as_ref().map_or(workdir, |entry| entry.home);
        let home = if home.is_empty() { "/" } else { home }.to_owned();
        if let Some(own) = own_group.filter(|own| !own.is_empty()) {
            let named = || groups(group).find(|(name, ..)| *name == own).map(|(_, gid, _)| gid);
            let gid = own.parse().ok().or_else(named)?;
            return Some(Self { uid, gid, groups: vec![gid], home });
        }
        let gid = entry.as_ref().map(|entry| entry.gid).unwrap_or_default();
        let mut all = vec![gid];
        if let Some(entry) = &entry {
            let of_user =
                groups(group).filter(|(_, _, members)| members.split(',').any(|name| name == entry.name));
            all.extend(of_user.map(|(_, other, _)| other).filter(|other| *other != gid));
        }
        Some(Self { uid, gid, groups: all, home })
    }

    /// Reads what [`Display`](fmt::Display) has written.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(4, ' ');
        let (uid, gid, groups, home) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let groups = groups.split(',').map(|gid| gid.parse().ok()).collect::<Option<_>>()?;
        Some(Self { uid: uid.parse().ok()?, gid: gid.parse().ok()?, groups, home: home.to_owned() })
    }
}

/// One line.
impl fmt::Display for ImageUser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: Vec<String> = self.groups.iter().map(u32::to_string).collect();
        let home: String = self.home.chars().filter(|sign| !sign.is_control()).collect();
        write!(formatter, "{} {} {} {home}", self.uid, self.gid, groups.join(","))
    }
}

/// A line of passwd(5).
struct Entry<'a> {
    name: &'a str,
    uid: u32,
    gid: u32,
    home: &'a str,
}

impl<'a> Entry<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.split(':');
        let (name, _, uid, gid, _) =
            (fields.next()?, fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        Some(Self { name, uid: uid.parse().ok()?, gid: gid.parse().ok()?, home: fields.next()? })
    }
}

/// Names, numbers and members of group(5).
fn groups(text: &str) -> impl Iterator<Item = (&str, u32, &str)> {
    text.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let (name, _, gid) = (fields.next()?, fields.next()?, fields.next()?);
        Some((name, gid.parse().ok()?, fields.next().unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str =
        "root:x:0:0:root:/root:/bin/sh\napp:x:1000:100:An app:/srv/a b:/bin/sh\n+::::::\nhalf:x:7\n";
    const GROUP: &str = "root:x:0:\ncrew:x:50:other,app\nusers:x:100:app\nbad:x:y:app\nalone:x:60\n";

    fn find(word: &str) -> Option<String> {
        ImageUser::find(word, (PASSWD, GROUP), "/project").map(|user| user.to_string())
    }

    #[test]
    fn names_and_numbers_are_users() {
        assert_eq!(find("app").as_deref(), Some("1000 100 100,50 /srv/a b"));
        assert_eq!(find("1000"), find("app"));
        assert_eq!(find("1000:"), find("app"));
        assert_eq!(find("app:crew").as_deref(), Some("1000 50 50 /srv/a b"));
        assert_eq!(find("app:60").as_deref(), Some("1000 60 60 /srv/a b"));
        assert_eq!(find("4711").as_deref(), Some("4711 0 0 /project"));
        assert_eq!(find("4711:crew").as_deref(), Some("4711 50 50 /project"));
        for unknown in ["nobody", "half", "app:none", "", "-1"] {
            assert_eq!(find(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let user = ImageUser::find("app", (PASSWD, GROUP), "/").unwrap();
        assert_eq!(ImageUser::parse(&user.to_string()), Some(user));
        for line in ["", "1 2 3", "1 2 x /", "1 2 , /", "-1 2 3 /"] {
            assert_eq!(ImageUser::parse(line), None, "{line}");
        }
    }
}
