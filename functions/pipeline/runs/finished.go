package runs

// FinishedByAnother returns the run as one whose remaining changes the apply of pull request number by has
// made. Its plan is not applied any more. ok is false if the run is marked already, or if its plan or apply is
// queued or in progress.
func FinishedByAnother(r Run, by int) (done Run, ok bool) {
	if by == 0 || r.End.FinishedBy != 0 || r.Phase.UnderWay() || r.Phase == Queued || r.Phase == Planning {
		return r, false
	}
	if r.Waiting() {
		r = r.WithoutWaiting()
	}
	r.End.FinishedBy, r.Asked.Late = by, false
	return r, true
}
