package evidence

import "context"

// MergeGroup returns the commit of a pull request's merge group as GitHub has it now, and the pull requests that come before
// it in the queue; "" if there is none. The name of a group in a webhook is a hint.
func MergeGroup(ctx context.Context, e *Reader) (sha string, ahead []int, err error) {
	queue, err := e.Hub.Queue(ctx, e.Message.Pull.Number)
	for _, q := range queue {
		if q.Number == e.Message.Pull.Number {
			return q.SHA, ahead, err
		}
		ahead = append(ahead, q.Number)
	}
	return "", nil, err
}
