CREATE TABLE comparisons (
    no NUMBER, id TEXT NOT NULL, suite TEXT, rubric_key TEXT NOT NULL REFERENCES rubrics (key),
    judge TEXT NOT NULL, started_at TEXT NOT NULL, finished_at TEXT, status TEXT NOT NULL,
    reason TEXT, json TEXT NOT NULL, PRIMARY KEY (no), UNIQUE (id));
CREATE INDEX comparisons_by_start ON comparisons (started_at);
CREATE TABLE comparison_sides (
    comparison_no BIGINT NOT NULL REFERENCES comparisons (no), side TEXT NOT NULL,
    label TEXT NOT NULL, variant TEXT, run_id TEXT, version TEXT,
    PRIMARY KEY (comparison_no, side));
CREATE INDEX comparison_sides_by_label ON comparison_sides (label);
CREATE INDEX comparison_sides_by_variant ON comparison_sides (variant);
CREATE INDEX comparison_sides_by_run ON comparison_sides (run_id);
CREATE TABLE compared_outputs (key TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (key));
CREATE TABLE compared_pairs (
    comparison_no BIGINT NOT NULL REFERENCES comparisons (no), place BIGINT NOT NULL,
    case_id TEXT NOT NULL, case_key TEXT NOT NULL REFERENCES cases (key), repeat BIGINT NOT NULL,
    a_key TEXT NOT NULL REFERENCES compared_outputs (key),
    b_key TEXT NOT NULL REFERENCES compared_outputs (key), is_done BOOLEAN NOT NULL,
    PRIMARY KEY (comparison_no, place), UNIQUE (comparison_no, case_id, repeat));
CREATE TABLE preferences (
    no NUMBER, comparison_no BIGINT NOT NULL, place BIGINT NOT NULL, slot TEXT NOT NULL,
    at TEXT NOT NULL, shown TEXT NOT NULL, criterion TEXT, judge TEXT NOT NULL,
    judge_repeat BIGINT NOT NULL, choice TEXT, failure_kind TEXT, cost_usd DOUBLE PRECISION,
    json TEXT NOT NULL, superseded_at TEXT, PRIMARY KEY (no),
    FOREIGN KEY (comparison_no, place) REFERENCES compared_pairs (comparison_no, place));
CREATE UNIQUE INDEX current_preferences ON preferences (comparison_no, place, slot)
    WHERE superseded_at IS NULL;
CREATE TABLE analyses (
    no NUMBER, comparison_no BIGINT NOT NULL, place BIGINT NOT NULL, at TEXT NOT NULL,
    json TEXT NOT NULL, superseded_at TEXT, PRIMARY KEY (no),
    FOREIGN KEY (comparison_no, place) REFERENCES compared_pairs (comparison_no, place));
CREATE UNIQUE INDEX current_analyses ON analyses (comparison_no, place)
    WHERE superseded_at IS NULL;
CREATE TABLE approvals (
    no NUMBER, id TEXT NOT NULL, at TEXT NOT NULL, variant TEXT NOT NULL, version TEXT NOT NULL,
    json TEXT NOT NULL, PRIMARY KEY (no), UNIQUE (id));
CREATE INDEX approvals_by_variant ON approvals (variant)
