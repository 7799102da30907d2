//! Which call must wait for which: from what each declares to touch.

use super::Access;

/// For each call the earlier calls that it must wait for: those with which it shares a resource
/// that one of the two writes, and every earlier exclusive call. A failed call does not cancel those
/// that wait for it. Quadratic in the calls of one reply.
#[must_use]
pub fn dependencies(calls: &[Access]) -> Vec<Vec<usize>> {
    calls
        .iter()
        .enumerate()
        .map(|(at, call)| {
            let earlier = calls.iter().enumerate().take(at);
            earlier.filter(|(_, other)| conflict(other, call)).map(|(index, _)| index).collect()
        })
        .collect()
}

fn conflict(a: &Access, b: &Access) -> bool {
    match (a, b) {
        (Access::Exclusive, _) | (_, Access::Exclusive) => true,
        (Access::Pure, _) | (_, Access::Pure) | (Access::Read(_), Access::Read(_)) => false,
        (Access::Read(a) | Access::Write(a), Access::Read(b) | Access::Write(b)) => {
            a.iter().any(|a| b.iter().any(|b| overlap(a, b)))
        }
    }
}

/// Equal after normalising, or one a folder around the other.
fn overlap(a: &str, b: &str) -> bool {
    let clean = |path: &str| {
        let mut parts: Vec<String> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part.to_owned()),
            }
        }
        parts
    };
    let (a, b) = (clean(a), clean(b));
    a.starts_with(&b) || b.starts_with(&a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(path: &str) -> Access {
        Access::Read(vec![path.into()])
    }

    fn write(path: &str) -> Access {
        Access::Write(vec![path.into()])
    }

    #[test]
    fn an_edit_waits_for_the_read_of_its_file_and_a_later_read_for_the_edit() {
        let calls = [read("a"), read("b"), write("./a"), read("b"), read("a")];
        assert_eq!(dependencies(&calls), [vec![], vec![], vec![0], vec![], vec![2]]);
    }

    #[test]
    fn folders_cover_their_files_and_exclusive_calls_stand_alone() {
        assert_eq!(dependencies(&[read("notes"), write("notes/a.md"), write("notesx")]), [vec![], vec![0], vec![]]);
        assert_eq!(dependencies(&[Access::Pure, Access::Exclusive, Access::Pure]), [vec![], vec![0], vec![1]]);
    }

    fn access() -> impl Strategy<Value = Access> {
        let paths = || prop::collection::vec("[ab](/[ab])?", 1..3);
        prop_oneof![
            Just(Access::Pure),
            Just(Access::Exclusive),
            paths().prop_map(Access::Read),
            paths().prop_map(Access::Write)
        ]
    }

    proptest! {
        #[test]
        fn any_order_that_respects_the_dependencies_keeps_writers_apart(calls in prop::collection::vec(access(), 0..12)) {
            let deps = dependencies(&calls);
            for (later, waits) in deps.iter().enumerate() {
                for earlier in 0..later {
                    prop_assert_eq!(waits.contains(&earlier), conflict(&calls[earlier], &calls[later]));
                    prop_assert!(waits.iter().all(|w| *w < later));
                }
            }
        }
    }
}
