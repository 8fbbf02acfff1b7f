//! Recipes of specifications that podman 4.3 made.
