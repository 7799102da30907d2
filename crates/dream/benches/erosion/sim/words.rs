//! What the year is about: subjects, their attributes, and people.

use dormouse_vault::Bucket;

/// Something that notes are written about.
pub(crate) struct Subject {
    pub(crate) bucket: Bucket,
    pub(crate) chinese: bool,
    /// How sentences mention it.
    pub(crate) noun: &'static str,
    /// Titles that a model may give it: the usual one, its words in another order, and other words.
    pub(crate) titles: [&'static str; 3],
}

const fn english(bucket: Bucket, noun: &'static str, titles: [&'static str; 3]) -> Subject {
    Subject { bucket, chinese: false, noun, titles }
}

const fn chinese(bucket: Bucket, noun: &'static str, titles: [&'static str; 3]) -> Subject {
    Subject { bucket, chinese: true, noun, titles }
}

/// The first ones come up most often.
pub(crate) const SUBJECTS: &[Subject] = &[
    english(Bucket::Wiki, "the nightly backup", ["Nightly backup", "Backup, nightly", "Copies made after dark"]),
    chinese(Bucket::Wiki, "搜索索引", ["搜索索引的参数", "参数：搜索索引", "检索用的倒排表"]),
    english(
        Bucket::Procedure,
        "the release pipeline",
        ["Release pipeline", "Pipeline for a release", "Shipping a build"],
    ),
    english(
        Bucket::Personal,
        "the morning brief",
        ["Morning brief", "Brief in the morning", "What to read at breakfast"],
    ),
    chinese(Bucket::Procedure, "数据库迁移", ["数据库迁移步骤", "步骤：数据库迁移", "怎样搬表"]),
    english(Bucket::Wiki, "the import queue", ["Import queue", "Queue of imports", "Waiting line of incoming files"]),
    chinese(Bucket::Personal, "周报", ["周报的偏好", "偏好：周报", "每周总结的写法"]),
    english(Bucket::Wiki, "the greenhouse", ["Greenhouse", "The greenhouse", "Glass house behind the barn"]),
    english(Bucket::Procedure, "the sourdough", ["Sourdough", "Sourdough, the", "Bread without yeast"]),
    chinese(Bucket::Wiki, "缓存服务", ["缓存服务的约定", "约定：缓存服务", "内存键值层"]),
    english(Bucket::Wiki, "the reading group", ["Reading group", "Group for reading", "Thursday circle"]),
    english(Bucket::Personal, "the video calls", ["Video calls", "Calls by video", "How to meet remotely"]),
    chinese(Bucket::Procedure, "发布流程", ["发布流程要点", "要点：发布流程", "上线怎么做"]),
    english(
        Bucket::Wiki,
        "the bicycle workshop",
        ["Bicycle workshop", "Workshop for bicycles", "Repairs on two wheels"],
    ),
    chinese(Bucket::Wiki, "日志平台", ["日志平台的规格", "规格：日志平台", "记录采集系统"]),
    english(
        Bucket::Procedure,
        "the on-call handover",
        ["On-call handover", "Handover of on-call", "Passing the pager"],
    ),
    english(Bucket::Wiki, "the solar panels", ["Solar panels", "Panels, solar", "Power from the roof"]),
    chinese(Bucket::Personal, "阅读清单", ["阅读清单的偏好", "偏好：阅读清单", "想看的书"]),
    english(Bucket::Wiki, "the token budget", ["Token budget", "Budget of tokens", "How long a prompt may be"]),
    english(Bucket::Wiki, "the archive room", ["Archive room", "Room of the archive", "Where old boxes stand"]),
    chinese(Bucket::Wiki, "会议室", ["会议室的使用", "使用：会议室", "三楼讨论间"]),
    english(Bucket::Procedure, "the quarterly audit", ["Quarterly audit", "Audit, quarterly", "Looking at the books"]),
    english(Bucket::Personal, "the desk setup", ["Desk setup", "Setup of the desk", "Where the screens stand"]),
    chinese(Bucket::Procedure, "值班交接", ["值班交接办法", "办法：值班交接", "换班时做什么"]),
    english(Bucket::Wiki, "the mail relay", ["Mail relay", "Relay for mail", "Postman in the data centre"]),
    english(Bucket::Wiki, "the choir tour", ["Choir tour", "Tour of the choir", "Singing in the north"]),
    chinese(Bucket::Wiki, "图书角", ["图书角的规则", "规则：图书角", "走廊的书架"]),
    english(
        Bucket::Wiki,
        "the staging cluster",
        ["Staging cluster", "Cluster for staging", "Machines before production"],
    ),
    chinese(Bucket::Wiki, "温室大棚", ["温室大棚的数据", "数据：温室大棚", "种番茄的地方"]),
    english(Bucket::Personal, "the running plan", ["Running plan", "Plan for running", "Kilometres a week"]),
    chinese(Bucket::Wiki, "推荐模型", ["推荐模型的设置", "设置：推荐模型", "猜你想看"]),
    english(Bucket::Wiki, "the spare parts", ["Spare parts", "Parts to spare", "The drawer of screws"]),
];

/// Something about a subject that has a number.
pub(crate) struct Attribute {
    /// In English and Chinese.
    pub(crate) name: [&'static str; 2],
    pub(crate) unit: [&'static str; 2],
    /// Values are from 2 to below this.
    pub(crate) below: usize,
}

const fn attribute(name: [&'static str; 2], unit: [&'static str; 2], below: usize) -> Attribute {
    Attribute { name, unit, below }
}

pub(crate) const ATTRIBUTES: &[Attribute] = &[
    attribute(["retention", "保留期"], ["days", "天"], 400),
    attribute(["batch size", "批量"], ["items", "条"], 5000),
    attribute(["timeout", "超时"], ["seconds", "秒"], 120),
    attribute(["yearly budget", "年度预算"], ["euros", "元"], 90000),
    attribute(["number of helpers", "帮手人数"], ["people", "人"], 12),
    attribute(["waiting list", "候补名单"], ["entries", "项"], 60),
    attribute(["pause between rounds", "间隔"], ["minutes", "分钟"], 12),
    attribute(["upper limit", "上限"], ["units", "个"], 800),
    attribute(["distance", "距离"], ["metres", "米"], 3000),
    attribute(["number of spare keys", "备用钥匙数"], ["keys", "把"], 12),
];

pub(crate) const PEOPLE: [&[&str]; 2] = [
    &["Anna Lindqvist", "Tomas Reyer", "Mireille", "Okafor", "Jonas", "Priya Raman", "Beatrix", "Holger"],
    &["李明远", "王思齐", "陈小雨", "赵国栋", "林婉清", "周子航"],
];

/// Who a model invents; nobody of them is ever in an event.
pub(crate) const STRANGERS: [&[&str]; 2] =
    [&["Zebulon Quark", "Ximena Thorne", "Wolfram Eck", "Quillon"], &["钱多多", "孙悟饭", "吴用功", "郑成器"]];

/// Numbers in words that a model invents; none of them is ever in an event.
pub(crate) const SPELLED: [&[&str]; 2] = [&["ninety-nine", "seventy-three"], &["九十九", "七十三"]];

pub(crate) const SCOPES: [&[&str]; 2] = [
    &["weekends", "the first quarter", "new members", "the old building", "a dry run"],
    &["周末", "第一季度", "新成员", "旧楼", "演练"],
];

/// What people say that nobody has to remember.
pub(crate) const CHATTER: [&[&str]; 2] = [
    &["Good morning, it rained again.", "Let me get a coffee first.", "That was a long day.", "See you tomorrow then."],
    &["早上好，又下雨了。", "我先去倒杯咖啡。", "今天真累。", "那明天见。"],
];

/// What a person adds to a digest by hand.
pub(crate) const BY_HAND: [&[&str]; 2] = [
    &["Checked by hand and found right", "Ask about this at the next meeting", "I still doubt this"],
    &["人工核对过", "下次开会再问", "我还不确定"],
];
