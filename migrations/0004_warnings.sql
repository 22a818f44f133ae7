-- What is odd in a trace that can be simulated all the same: a JSON list of sentences.
ALTER TABLE traces ADD COLUMN warnings TEXT NOT NULL DEFAULT '[]';
