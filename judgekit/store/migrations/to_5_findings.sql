CREATE TABLE finding_notes (
    no NUMBER, suite TEXT NOT NULL, finding TEXT NOT NULL, at TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (no));
CREATE INDEX finding_notes_by_suite ON finding_notes (suite);
CREATE TABLE notifications (
    suite TEXT NOT NULL, episode TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (suite, episode))
