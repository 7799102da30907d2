//! What a Chinese sentence does, where no cue word says it; see `acts`.

use super::cues::Class;
use super::measured::is_measured;
use super::persons::of_body;

/// The class of what a sentence does; `None` when it only tells.
pub(super) fn act(sentence: &str) -> Option<Class> {
    let clauses: Vec<&str> = sentence
        .split(['，', '；', '：', '。', '、', '！', ',', ';', ':'])
        .map(str::trim)
        .filter(|c| !c.is_empty())
        .collect();
    let has = |cues: &[&str]| cues.iter().any(|cue| sentence.contains(cue));
    let begins = |cues: &[&str]| clauses.iter().any(|c| cues.iter().any(|cue| c.starts_with(cue)));
    if is_method(sentence) {
        return Some(Class::Method);
    }
    if is_like(sentence, &has) {
        return Some(Class::Preference);
    }
    let ahead = clauses.iter().any(|c| {
        let at = ["以后", "今后", "往后"].iter().find_map(|w| c.split_once(w));
        at.is_some_and(|(before, after)| {
            before.chars().count() <= 4 && !after.starts_with('再') && after.chars().count() >= 3
        })
    });
    if ahead
        || begins(&["不要", "别再", "不许", "不准", "要先", "每次都"])
        || has(&["之后不要", "不能给", "都不要", "要定期", "都要先", "凡是", "都先", "所有", "哪怕"])
        || ought(sentence)
        || routine(&clauses)
        || when_then(&clauses)
        || has(&["不收", "只收", "不接受", "要带", "需带", "要提供"])
    {
        return Some(Class::Rule);
    }
    if has(&["最后选了", "最终选了", "最后定了", "还是选了"]) && has(&["因为", "，", "由于"])
        || has(&["现在都", "只留"])
    {
        return Some(Class::Decision);
    }
    if has(&["查下来", "查出来", "原来是", "是因为", "其实是", "问题出在", "看来是"])
        || sentence.contains("又是") && sentence.chars().count() > 10
        || ["，把", "把"].iter().any(|w| sentence.contains(w))
            && has(&["死了", "坏了", "弄丢了", "搞坏"])
            && sentence.contains('太')
    {
        return Some(Class::Cause);
    }
    let apart = has(&["没关系", "无关"]) && has(&["跟", "和", "与"]);
    if has(&["关键就是", "关键是", "关键在", "才算数", "才有用", "才靠得住", "就不会", "就没事", "问题消失"])
        || sentence.contains("看来") && sentence.chars().count() > 6
        || apart
        || begins_effect(&clauses)
        || passes_on(sentence)
        || says_where(sentence)
    {
        return Some(Class::Lesson);
    }
    let compared = sentence.contains('比')
        && ["高", "低", "快", "慢", "多", "少", "小", "大"].iter().any(|w| sentence.contains(w));
    let changed = has(&["降到", "升到", "提高到", "缩短到", "减少到", "花了"]);
    (compared && (is_measured(sentence) || sentence.contains("百分点") || sentence.contains('倍'))
        || changed && (is_measured(sentence) || compared)
        || has(&["降到", "缩短到", "升到"]))
    .then_some(Class::Measure)
}

/// Several actions in their order: "first … then …".
fn is_method(sentence: &str) -> bool {
    let Some(at) = sentence.find('先') else {
        return false;
    };
    let rest = sentence.get(at..).unwrap_or("");
    let told = ["办法", "方法", "步骤", "做法"].iter().any(|w| sentence.get(..at).unwrap_or("").contains(w));
    told && (rest.contains("再") || rest.contains("然后") || rest.contains('后'))
}

/// What somebody likes, can't bear, or is used to.
fn is_like(sentence: &str, has: &impl Fn(&[&str]) -> bool) -> bool {
    let mine = sentence.contains('我') && !sentence.contains("我们");
    has(&["不喜欢", "爱吃", "受不了", "我要的", "不耐受", "我一般", "我从来", "我说过"])
        || mine
            && ["只去", "只要", "只用", "只喝", "只吃", "就够了", "不喝", "不吃"].iter().any(|w| sentence.contains(w))
        || of_body(sentence) && has(&["没事", "以后", "就疼", "就痛", "疼，", "每次"])
}

/// 要 as "has to", not as "wants" or as a part of another word.
fn ought(sentence: &str) -> bool {
    let chars: Vec<char> = sentence.chars().collect();
    chars.iter().enumerate().any(|(i, c)| {
        let before = i.checked_sub(1).and_then(|j| chars.get(j)).copied().unwrap_or(' ');
        let after = chars.get(i + 1).copied().unwrap_or(' ');
        *c == '要'
            && !"不想还只需主重将快就首次概必正又我".contains(before)
            && "在先定按留用有写放经带把".contains(after)
    })
}

/// So often: once a month, every week.
fn routine(clauses: &[&str]) -> bool {
    clauses.iter().any(|c| {
        ["每个月", "每月", "每周", "每天", "每年", "每季度", "每半年"].iter().any(|w| {
            c.split_once(w).is_some_and(|(_, after)| ["一次", "一遍", "一份"].iter().any(|n| after.contains(n)))
        })
    })
}

/// "When …, use …", "… not …, then …".
fn when_then(clauses: &[&str]) -> bool {
    clauses.windows(2).any(|pair| {
        let [when, then] = pair else { return false };
        (when.ends_with('时') || when.ends_with("的时候") || when.ends_with("之前") || when.ends_with("之后"))
            && ["用", "先", "把", "要", "别", "不要", "得", "必须", "另"].iter().any(|w| then.starts_with(w))
            || (when.contains('没') || when.contains('不')) && then.starts_with('就') && then.chars().count() > 1
    })
}

/// "…, and it boils over no more".
fn begins_effect(clauses: &[&str]) -> bool {
    clauses.iter().skip(1).any(|c| (c.starts_with("就不") || c.starts_with("就好")) && c.ends_with('了'))
        && clauses.iter().map(|c| c.chars().count()).sum::<usize>() >= 10
}

/// What somebody who knows has said.
fn passes_on(sentence: &str) -> bool {
    ["医生", "大夫", "师傅", "药师", "作者", "论文", "研究", "说明书", "书上", "教练", "律师"].iter().any(|who| {
        sentence.split_once(who).is_some_and(|(_, after)| {
            ["说", "建议", "发现", "认为", "表明", "指出", "提醒", "写着"]
                .iter()
                .any(|w| after.find(w).is_some_and(|at| at <= "人员们都".len()))
        })
    })
}

/// Where something is kept.
fn says_where(sentence: &str) -> bool {
    ["地址", "密码", "钥匙", "文档", "证件", "说明", "药"].iter().any(|what| {
        sentence.split_once(what).is_some_and(|(_, after)| {
            ["写在", "放在", "存在", "记在", "贴在", "在"].iter().any(|w| after.starts_with(w))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expected: Option<Class>) {
        assert_eq!(act(sentence), expected, "{sentence}");
    }

    #[test]
    fn a_chinese_sentence_is_read_by_what_it_does() {
        check("以后合同都用蓝笔签。", Some(Class::Rule));
        check("打开相机的办法：先按住侧键，再向上推。", Some(Class::Method));
        check("我坐车受不了香水味。", Some(Class::Preference));
        check("医生建议每小时站起来一次。", Some(Class::Lesson));
        check("备用钥匙放在门口的花盆下面。", Some(Class::Lesson));
        check("备用的钥匙在邻居那里。", Some(Class::Lesson));
    }

    #[test]
    fn what_only_tells_of_a_day_does_nothing() {
        check("下午去了趟银行，人很多。", None);
        check("要不要搬家？", None);
        check("这个以后再说。", None);
    }
}
