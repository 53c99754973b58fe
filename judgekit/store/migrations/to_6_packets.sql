CREATE TABLE label_packets (
    no NUMBER, id TEXT NOT NULL, source TEXT NOT NULL, made_at TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (no), UNIQUE (id));
CREATE INDEX label_packets_by_source ON label_packets (source)
