//! Which commits a range means, and what is said when it means none.

use std::path::Path;

use cargo_bench_compare::revision;
use cargo_bench_compare::revision::{Range, Repository, Revision, Source};
use snapbox::{assert_data_eq, str};

use crate::support::{Fixture, git};

/// A repository without cargo: commits `one` (tag `v1`, an annotated one) and `two` on `main`, and from
/// `one` a branch `topic` with a commit `three`.
fn history() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("file", "1\n");
    fixture.commit("one");
    fixture.git(&["tag", "-a", "-m", "the first", "v1"]);
    fixture.git(&["checkout", "--quiet", "-b", "topic"]);
    fixture.write("other", "3\n");
    fixture.commit("three");
    fixture.git(&["checkout", "--quiet", "main"]);
    fixture.write("file", "2\n");
    fixture.commit("two");
    fixture
}

fn resolve(directory: &Path, range: &str) -> Result<[Revision; 2], String> {
    let range = match range {
        "" => Range::SinceDefaultBranch,
        range => range.parse()?,
    };
    let repository = Repository::discover(directory).map_err(|error| error.to_string())?;
    let sides = revision::resolve(&repository, &range, None).map_err(|error| error.to_string())?;
    let sides: Vec<Revision> = sides.values().cloned().collect();
    Ok(sides.try_into().expect("there are two sides"))
}

/// Label and commit subject of both sides; a working tree is marked.
#[track_caller]
fn meaning(directory: &Path, range: &str) -> [(String, String); 2] {
    let sides = resolve(directory, range).unwrap_or_else(|error| panic!("{range}: {error}"));
    sides.map(|Revision { label, commit, source }| {
        let subject = git(directory, &["log", "-1", "--format=%s", &commit]);
        let mark = if source == Source::WorkingTree { " with changes" } else { "" };
        (label, subject + mark)
    })
}

#[track_caller]
fn assert_means(directory: &Path, range: &str, base: (&str, &str), head: (&str, &str)) {
    let [actual_base, actual_head] = meaning(directory, range);
    let expected = [base, head].map(|(label, subject)| (label.to_owned(), subject.to_owned()));
    assert_eq!([actual_base, actual_head], expected, "{range}");
}

#[track_caller]
fn refusal(directory: &Path, range: &str) -> String {
    resolve(directory, range).expect_err("the range is refused")
}

#[test]
fn two_dots_are_the_revisions_themselves_and_three_dots_begin_at_the_merge_base() {
    let fixture = history();
    let root = &fixture.root();
    assert_means(root, "main..topic", ("main", "two"), ("topic", "three"));
    assert_means(root, "main...topic", ("merge base of main and topic", "one"), ("topic", "three"));
    assert_means(root, "v1...topic", ("v1", "one"), ("topic", "three"));
    assert_means(root, "topic..", ("topic", "three"), ("HEAD", "two"));
    assert_means(root, "topic...", ("merge base of topic and HEAD", "one"), ("HEAD", "two"));
    assert_means(root, "main..HEAD", ("main", "two"), ("HEAD", "two"));
}

#[test]
fn one_revision_is_compared_with_the_working_tree() {
    let fixture = history();
    let working_tree = ("working tree", "two with changes");
    assert_means(&fixture.root(), "topic", ("topic", "three"), working_tree);
    assert_means(&fixture.root(), "HEAD", ("HEAD", "two"), working_tree);
    fixture.git(&["checkout", "--quiet", "--detach", "v1"]);
    assert_means(&fixture.root(), "main", ("main", "two"), ("working tree", "one with changes"));
}

#[test]
fn every_way_to_name_a_commit_is_understood() {
    let fixture = history();
    let root = &fixture.root();
    let head = ("main", "two");
    assert_means(root, "v1..main", ("v1", "one"), head);
    assert_means(root, "HEAD~1..main", ("HEAD~1", "one"), head);
    assert_means(root, "main^..main", ("main^", "one"), head);
    assert_means(root, "refs/tags/v1..main", ("refs/tags/v1", "one"), head);
    assert_means(root, ":/three..main", (":/three", "three"), head);
    fixture.git(&["tag", "light", "topic"]);
    assert_means(root, "light..main", ("light", "three"), head);
    let full = fixture.git(&["rev-parse", "topic"]);
    assert_eq!(resolve(root, "topic..main").unwrap()[0].commit, full);
    assert_means(root, &format!("{full}..main"), (&full, "three"), head);
    let short = &full[..8];
    assert_means(root, &format!("{short}..main"), (short, "three"), head);
    // From a directory below the top as well.
    fixture.write("below/file", "");
    assert_means(&root.join("below"), "v1..main", ("v1", "one"), head);
}

#[test]
fn branches_of_a_remote_are_found_without_its_name() {
    let fixture = history();
    let clone = &fixture.outside().join("clone");
    git(fixture.outside(), &["clone", "--quiet", "sample", "clone"]);
    let head = ("main", "two");
    assert_means(clone, "origin/topic..main", ("origin/topic", "three"), head);
    assert_means(clone, "topic..main", ("origin/topic", "three"), head);

    // A local branch of that name comes first.
    git(clone, &["branch", "topic", "v1"]);
    assert_means(clone, "topic..main", ("topic", "one"), head);
    git(clone, &["branch", "-D", "topic"]);

    // Of two remotes none is better than the other.
    git(clone, &["remote", "add", "fork", "../sample"]);
    git(clone, &["fetch", "--quiet", "fork"]);
    assert_data_eq!(
        refusal(clone, "topic..main"),
        str![[r#"
unknown revision `topic`
  help: did you mean `fork/topic` or `origin/topic`?
"#]]
    );
}

#[test]
fn a_local_branch_is_not_found_by_the_end_of_its_name() {
    let fixture = history();
    fixture.git(&["branch", "-m", "topic", "feature/topic"]);
    assert_data_eq!(
        refusal(&fixture.root(), "topic..main"),
        str![[r#"
unknown revision `topic`
  help: did you mean `feature/topic`?
"#]]
    );
}

#[test]
fn without_a_range_the_change_since_the_default_branch_is_meant() {
    let fixture = history();
    let root = &fixture.root();
    let on_topic = ("working tree", "three with changes");
    fixture.git(&["checkout", "--quiet", "topic"]);
    assert_means(root, "", ("merge base of main and HEAD", "one"), on_topic);

    let clone = &fixture.outside().join("clone");
    git(fixture.outside(), &["clone", "--quiet", "--branch", "topic", "sample", "clone"]);
    // What the remote says counts more than a name: its HEAD is at `topic` now.
    assert_means(clone, "", ("origin/topic", "three"), on_topic);
    git(clone, &["remote", "set-head", "origin", "main"]);
    git(clone, &["branch", "main", "origin/topic"]);
    assert_means(clone, "", ("merge base of origin/main and HEAD", "one"), on_topic);
    // Without it the remote's branch of the usual name, then the local one.
    git(clone, &["remote", "set-head", "origin", "--delete"]);
    assert_means(clone, "", ("merge base of origin/main and HEAD", "one"), on_topic);
    git(clone, &["remote", "remove", "origin"]);
    assert_means(clone, "", ("main", "three"), on_topic);
}

#[test]
fn a_default_branch_that_cannot_be_told_is_asked_for() {
    let fixture = history();
    fixture.git(&["branch", "-m", "main", "development-of-it"]);
    assert_data_eq!(
        refusal(&fixture.root(), ""),
        str![[r#"
cannot tell which branch is the default branch
  help: say what to compare with: cargo bench-compare main
"#]]
    );
}

#[test]
fn an_unknown_revision_is_answered_with_the_nearest_names() {
    let fixture = history();
    assert_data_eq!(
        refusal(&fixture.root(), "mian..topic"),
        str![[r#"
unknown revision `mian`
  help: did you mean `main`?
"#]]
    );
    assert_data_eq!(
        refusal(&fixture.root(), "main..xyzzy"),
        str![[r#"
unknown revision `xyzzy`
  help: `git branch --all` and `git tag` list the names there are
"#]]
    );
    // A tree is no commit.
    assert_data_eq!(
        refusal(&fixture.root(), "main^{tree}..topic"),
        str![[r#"
unknown revision `main^{tree}`
  help: did you mean `main`?
"#]]
    );
}

#[test]
fn what_looks_like_an_option_is_never_one_to_git() {
    let fixture = history();
    for name in ["--help", "-x", "--all", "--git-dir"] {
        let message = refusal(&fixture.root(), &format!("{name}..main"));
        let first = message.lines().next().unwrap();
        assert_eq!(first, format!("unknown revision `{name}`"), "{message}");
    }
}

#[test]
fn a_shallow_clone_is_named_as_the_reason() {
    let fixture = history();
    let url = format!("file://{}", fixture.root().display());
    let arguments = ["clone", "--quiet", "--depth", "1", "--no-single-branch", &url, "clone"];
    git(fixture.outside(), &arguments);
    let clone = &fixture.outside().join("clone");
    assert_means(clone, "origin/topic..main", ("origin/topic", "three"), ("main", "two"));
    assert_data_eq!(
        refusal(clone, "HEAD~1..HEAD"),
        str![[r#"
unknown revision `HEAD~1`
  because: this is a shallow clone: a part of the history is missing
  help: in GitHub Actions, give actions/checkout `fetch-depth: 0`
  help: elsewhere, run `git fetch --unshallow --tags`
"#]]
    );
    assert_data_eq!(
        refusal(clone, "origin/topic...main"),
        str![[r#"
`origin/topic` and `main` have no common ancestor here
  because: this is a shallow clone: a part of the history is missing
  help: in GitHub Actions, give actions/checkout `fetch-depth: 0`
  help: elsewhere, run `git fetch --unshallow`
"#]]
    );
}

#[test]
fn histories_without_a_common_ancestor_can_be_compared_directly() {
    let fixture = history();
    fixture.git(&["checkout", "--quiet", "--orphan", "unrelated"]);
    fixture.commit("four");
    assert_data_eq!(
        refusal(&fixture.root(), "main...unrelated"),
        str![[r#"
`main` and `unrelated` have no common ancestor here
  help: compare the two themselves: main..unrelated
"#]]
    );
    assert_means(&fixture.root(), "main..unrelated", ("main", "two"), ("unrelated", "four"));
}

#[test]
fn a_repository_without_commits_is_told() {
    let fixture = Fixture::new();
    for range in ["", "main", "main..HEAD"] {
        assert_data_eq!(
            refusal(&fixture.root(), range),
            str![[r#"
the repository has no commit yet
  help: commit the base first, then the change that you want to judge
"#]]
        );
    }
}

#[test]
fn a_branch_without_commits_is_told() {
    let fixture = history();
    let clone = &fixture.outside().join("clone");
    git(fixture.outside(), &["clone", "--quiet", "sample", "clone"]);
    git(clone, &["checkout", "--quiet", "--orphan", "fresh"]);
    // `origin/HEAD` is not taken for HEAD.
    for range in ["", "v1", "v1..", "HEAD..v1"] {
        assert_data_eq!(
            refusal(clone, range),
            str![[r#"
the current branch has no commit yet
  help: commit something on it, or name two revisions: main..feature
"#]]
        );
    }
    assert_means(clone, "v1..main", ("v1", "one"), ("main", "two"));
}

#[test]
fn in_a_bare_repository_commits_can_be_compared_but_no_working_tree() {
    let fixture = history();
    let bare = &fixture.outside().join("bare.git");
    git(fixture.outside(), &["clone", "--quiet", "--bare", "sample", "bare.git"]);
    assert_means(bare, "v1..topic", ("v1", "one"), ("topic", "three"));
    for range in ["v1", ""] {
        assert_data_eq!(
            refusal(bare, range),
            str![[r#"
a bare repository has no working tree to compare with
  help: name two revisions: main..feature
"#]]
        );
    }
}

#[test]
fn exit_codes_tell_wrong_usage_from_what_cannot_be_compared() {
    let fixture = history();
    for (range, code, message) in [
        ("mian..HEAD", 2, "error: unknown revision `mian`\n  help: did you mean `main`?\n"),
        ("a..b..c", 2, "has more than one `..`; write a range like main..HEAD"),
        ("--help-me..main", 2, "unexpected argument '--help-me..main'"),
        // There is no manifest here, which is found out with everything checked out.
        ("v1..main", 3, "has no manifest that cargo can read"),
    ] {
        let run = fixture.run(&[range]).exits_with(code);
        assert!(run.stderr.contains(message), "{range}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{range}");
        fixture.assert_nothing_left_behind();
    }

    let empty = Fixture::new();
    let run = empty.run(&["main..HEAD"]).exits_with(3);
    assert!(run.stderr.starts_with("error: the repository has no commit yet\n"), "{}", run.stderr);

    let mut command = fixture.command(&["main..HEAD"]);
    let elsewhere = fixture.outside().canonicalize().unwrap();
    command.current_dir(&elsewhere);
    let run = crate::support::Run::of(command.output().unwrap()).exits_with(3);
    assert_data_eq!(
        run.stderr.replace(elsewhere.to_str().unwrap(), "<elsewhere>"),
        str![[r#"
error: <elsewhere> is not in a git repository that can be read
  because: not a git repository (or any of the parent directories): .git
  help: run cargo bench-compare inside the repository whose revisions you want to compare

"#]]
    );
}

#[test]
fn a_missing_git_is_said_to_be_missing() {
    let fixture = history();
    let mut command = fixture.command(&["v1..main"]);
    command.env("PATH", fixture.outside());
    let run = crate::support::Run::of(command.output().unwrap()).exits_with(3);
    assert_data_eq!(
        run.stderr,
        str![[r#"
error: cannot run `git`
  because: No such file or directory (os error 2)
  help: it must be installed, in a directory on the PATH

"#]]
    );
}

#[test]
fn comparing_a_commit_with_itself_is_noted() {
    let fixture = history();
    let note = "the same commit: this compares the code with itself";
    // The note comes with the checkouts; that there is nothing to build ends the run afterwards.
    let run = fixture.run(&["list", "main..HEAD"]).exits_with(3);
    assert!(run.stderr.contains(&format!("warning: base and head are {note}\n")), "{}", run.stderr);
    let run = fixture.run(&["list", "HEAD"]).exits_with(3);
    assert!(run.stderr.contains(note), "{}", run.stderr);
    fixture.write("file", "3\n");
    let run = fixture.run(&["list", "HEAD"]).exits_with(3);
    assert!(!run.stderr.contains(note), "uncommitted changes are a difference: {}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_git_hook_can_run_a_comparison() {
    use std::os::unix::fs::PermissionsExt;

    let fixture = history();
    let commit = fixture.git(&["rev-parse", "--short=9", "HEAD"]);
    // The program finds its cache through the environment, which git passes on to hooks.
    let hook = "#!/bin/sh\nenv | grep ^GIT_ > ../environment\n\"$PROGRAM\" list v1 2> ../messages\n\
                echo $? > ../code\n";
    fixture.write(".git/hooks/pre-commit", hook);
    let hook = fixture.root().join(".git/hooks/pre-commit");
    std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    fixture.write("file", "4\n");
    let output = std::process::Command::new("git")
        .current_dir(fixture.root())
        .envs(fixture.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PROGRAM", crate::support::PROGRAM)
        .args(["-c", "user.name=test", "-c", "user.email=test@example.org"])
        .args(["commit", "--quiet", "--all", "-m", "four"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let written = |name: &str| std::fs::read_to_string(fixture.outside().join(name)).unwrap();
    assert!(written("environment").contains("GIT_INDEX_FILE="), "{}", written("environment"));
    let messages = written("messages");
    assert!(messages.contains(&format!("(working tree, {commit})")), "{messages}");
    // Checked out, and only then refused: this repository has no manifest.
    assert!(messages.contains("has no manifest that cargo can read"), "{messages}");
    assert_eq!(written("code"), "3\n");
    assert_eq!(fixture.git(&["show", "HEAD:file"]), "4");
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
    fixture.assert_nothing_left_behind();
}

#[cfg(unix)]
#[test]
fn a_repository_of_another_user_is_refused_until_git_is_told_that_it_is_safe() {
    let fixture = history();
    let root = fixture.root().canonicalize().unwrap();
    if std::os::unix::fs::chown(&root, Some(12345), None).is_err() {
        eprintln!("skipped: only root can give a directory to another user");
        return;
    }
    let command = || {
        let mut command = fixture.command(&["list", "v1..main"]);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.env_remove("SUDO_UID");
        command
    };
    let run = crate::support::Run::of(command().output().unwrap()).exits_with(3);
    assert_data_eq!(
        run.stderr.replace(root.to_str().unwrap(), "<root>"),
        str![[r#"
error: <root> is not in a git repository that can be read
  because: detected dubious ownership in repository at '<root>'
    To add an exception for this directory, call:

        git config --global --add safe.directory <root>
  help: the repository belongs to another user; git's message says how to allow it

"#]]
    );

    // As it is done in containers, where no file can be written.
    let mut allowed = command();
    allowed.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "safe.directory");
    allowed.env("GIT_CONFIG_VALUE_0", &root);
    let run = crate::support::Run::of(allowed.output().unwrap()).exits_with(3);
    assert!(run.stderr.contains("has no manifest that cargo can read"), "{}", run.stderr);
    std::os::unix::fs::chown(&root, Some(0), None).unwrap();
}
