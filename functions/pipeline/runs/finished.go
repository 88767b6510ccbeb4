package runs

// FinishedByAnother returns the run with a mark: another pull request has made the remaining changes of the
// run. by is the number of that pull request. The plan of a marked run is not applied any more. ok is false if
// the run is already marked, or if its plan or apply is queued or in progress.
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
