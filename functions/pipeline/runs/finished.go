package runs

// Finished returns a run whose rest the apply of another pull request has finished: nobody applies its plan any more, nor asks what
// becomes of it. ok is false if that is known, or the run is under way.
func Finished(r Run, by int) (done Run, ok bool) {
	if by == 0 || r.End.FinishedBy != 0 || r.Phase.UnderWay() || r.Phase == Queued || r.Phase == Planning {
		return r, false
	}
	if r.Waiting() {
		r = r.GiveUp()
	}
	r.End.FinishedBy, r.Asked.Late = by, false
	return r, true
}
