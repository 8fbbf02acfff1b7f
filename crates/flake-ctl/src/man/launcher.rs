//! The page of the launcher.

use super::page::Page;

pub(super) fn page() -> Vec<u8> {
    Page::new("flake-pilot", "1", "run an application that lives in an isolated environment")
        .section("SYNOPSIS")
        .synopsis("APP", "[%OPTION]... [WORD]...")
        .section("DESCRIPTION")
        .text(
            "The program behind every command that flake-ctl registers: APP is a link to it. It finds the \
             registration that its name stands for, has the engine make the environment, runs the application in \
             it and ends as the application did. All words reach the application unchanged, but for those below.",
        )
        .text(
            "Standard input, output and error are the caller's own. Where one of them is the terminal, the \
             application has a terminal of the same size, with job control. Signals reach the application. Pipes \
             and files that a word names as /dev/fd/N are passed on, all other descriptors are not.",
        )
        .section("WORDS OF THE LAUNCHER")
        .text(
            "Only leading words that are exactly one of these are the launcher's. In front of the application's \
             words, a doubled sign stands for the word itself: %%remove is the application's %remove.",
        )
        .item("%progress", "Say what goes on even without a terminal.")
        .item("%interactive", "A terminal for the application even where standard input or output is none; a terminal that the caller has is passed anyway.")
        .item("%remove", "Remove a kept instance at the end, unless something else runs in it; an instance that is not kept is removed anyway.")
        .item("%ignore_sync_error", "Accepted as flake-pilot 3.x has it, without an effect yet.")
        .item("%ignore_missing_volume_path", "Leave out volumes whose path on the host does not exist.")
        .section("EXIT STATUS")
        .text("The application's own. A signal that ended the application ends the launcher as well.")
        .item("125", "The launcher failed; standard error says why.")
        .item("126", "The program inside cannot be executed.")
        .item("127", "The program inside was not found.")
        .section("FILES")
        .item("/usr/share/flakes/NAME.yaml", "The system's registrations, and their layers in NAME.d; see flake(5).")
        .item("~/.config/flakes/NAME.yaml", "A user's own.")
        .item("/usr/share/flakes/images/NAME.oci.tar", "The image of a system flake that runs as its caller. A \
             user's first call imports it into the user's own store.")
        .section("ENVIRONMENT")
        .item("XDG_RUNTIME_DIR", "Where sockets are made, in flakes; else in /tmp/flakes-UID.")
        .item(
            "CONTAINERS_CONF, CONTAINERS_STORAGE_CONF, STORAGE_DRIVER",
            "Podman's own configuration; they are handed on to it.",
        )
        .section("SEE ALSO")
        .text("flake-ctl(1), flake(5), flakes.yml(5), podman(1)")
        .finish()
}
