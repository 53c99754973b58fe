CREATE TABLE finding_notes (
    no NUMBER, suite TEXT NOT NULL, finding TEXT NOT NULL, at TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (no));
CREATE INDEX finding_notes_by_suite ON finding_notes (suite);
CREATE TABLE notifications (
    suite TEXT NOT NULL, episode TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (suite, episode));
CREATE TABLE score_comparisons (
    no NUMBER, id TEXT NOT NULL, suite TEXT, started_at TEXT NOT NULL, a_run TEXT NOT NULL,
    a_variant TEXT NOT NULL, b_run TEXT NOT NULL, b_variant TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (no), UNIQUE (id));
CREATE INDEX score_comparisons_by_start ON score_comparisons (started_at);
CREATE INDEX score_comparisons_by_a ON score_comparisons (a_run);
CREATE INDEX score_comparisons_by_b ON score_comparisons (b_run)
