//! What is asked of the agent of a kept instance for a call.

use super::image_user::{home, ids};
use super::{Keeper, words};
use crate::session::{self, Streams, Surroundings};
use flake_core::instance::Made;
use flake_schema::Lifetime;
use flake_wire::Request;

impl Keeper<'_> {
    /// The request for the call's command in an instance, at the terminal of all who attach where the flake says so.
    #[must_use]
    pub fn request(&self, made: &Made, streams: &Streams, surroundings: &Surroundings) -> Request {
        let mut exec = session::exec(self.launch, words::becomes(self.launch), streams, surroundings);
        if let Some(user) = &made.user {
            exec.user = Some(ids(user));
            exec.env.extend(home(user, self.launch));
        }
        match self.flake.lifetime {
            Lifetime::Attach => Request::Join(Box::new(exec)),
            Lifetime::Immutable | Lifetime::Resume => Request::Exec(Box::new(exec)),
        }
    }
}
