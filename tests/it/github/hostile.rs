//! Results, names and branches made by somebody who means harm.

use super::Step;

#[test]
fn a_symbolic_link_is_not_followed() {
    let step = Step::new();
    let real = step.path("real.json");
    std::fs::rename(step.path("results.json"), &real).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&real, step.path("results.json")).unwrap();
    let error = step.publish().unwrap_err().to_string();
    assert!(cfg!(not(unix)) || error.contains("is no regular file"), "{error}");
    assert!(step.fake.requests("").is_empty());
}
