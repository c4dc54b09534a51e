-- Cards that were taken out of a run of resumes while a call was being made for them: a later run waits for its end.
CREATE INDEX card_resumes_called ON card_resumes (card_id) WHERE state = 'cancelled' AND claimed_until IS NOT NULL;
