CREATE TABLE gate_decisions (
    no NUMBER, run_no BIGINT NOT NULL REFERENCES runs (no), at TEXT NOT NULL,
    outcome TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (no));
CREATE INDEX gate_decisions_by_run ON gate_decisions (run_no);
CREATE TABLE run_figures (
    run_no BIGINT NOT NULL REFERENCES runs (no), key TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (run_no, key))
