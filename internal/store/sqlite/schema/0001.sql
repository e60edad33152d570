-- Sessions and their events. Times are nanoseconds since 1970, UTC; 0 is none.
-- JSON is kept as the very text that was written. store/chain.go says what the
-- hashes cover. A released migration is never changed.

CREATE TABLE migrations (
  version  INTEGER PRIMARY KEY,
  checksum TEXT NOT NULL
);

CREATE TABLE sessions (
  id         TEXT PRIMARY KEY,
  title      TEXT NOT NULL,
  dir        TEXT NOT NULL,
  branch     TEXT NOT NULL,
  model      TEXT NOT NULL,
  created    INTEGER NOT NULL,
  updated    INTEGER NOT NULL,
  parent     TEXT NOT NULL,
  parent_seq INTEGER NOT NULL,
  events     INTEGER NOT NULL, -- also the seq of the last one
  calls      INTEGER NOT NULL,
  last_words TEXT NOT NULL,
  head       BLOB NOT NULL,    -- the hash of the last event
  pid        INTEGER NOT NULL, -- who opened it last
  host       TEXT NOT NULL
);

CREATE INDEX sessions_updated ON sessions (updated);

CREATE TABLE events (
  session   TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  turn      INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  kind      TEXT NOT NULL,
  content   TEXT NOT NULL,
  data_json TEXT,
  reply     TEXT NOT NULL,
  keep      TEXT,
  exact     BLOB,          -- the row as it is hashed, where the columns cannot hold its bytes
  prev      BLOB NOT NULL,
  hash      BLOB NOT NULL,
  PRIMARY KEY (session, seq)
);

-- One row that is written when there is nothing else to make durable.
CREATE TABLE synced (times INTEGER NOT NULL);
INSERT INTO synced VALUES (0);

PRAGMA user_version = 1;
