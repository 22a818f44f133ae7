-- What a trace that is uploading waits for; NULL in any other state.
ALTER TABLE traces ADD COLUMN waiting_for TEXT;
