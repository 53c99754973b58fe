CREATE TABLE queue (
    no NUMBER, run_no BIGINT NOT NULL, place BIGINT NOT NULL, variant_no BIGINT NOT NULL,
    repeat BIGINT NOT NULL, slot TEXT NOT NULL, json TEXT NOT NULL, asked_at TEXT NOT NULL,
    answered_at TEXT, answer_slot TEXT, PRIMARY KEY (no),
    FOREIGN KEY (run_no, place, variant_no, repeat)
        REFERENCES answers (run_no, place, variant_no, repeat),
    UNIQUE (run_no, place, variant_no, repeat, slot))
