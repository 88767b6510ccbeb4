package deploying

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// A stackEvent is an event that CloudFormation reports about a resource of the stack.
type stackEvent struct {
	Resource, Type string
	Status         string
	Reason         string
}

// failed reports whether an event is the cause of a failure, rather than a consequence of another failure.
func (e stackEvent) failed() bool {
	return strings.HasSuffix(e.Status, "_FAILED") && !strings.Contains(e.Reason, "cancelled")
}

// last returns the ID of the stack's newest event; "" if there is none.
func (s namedStack) last(ctx context.Context) (string, error) {
	got, err := s.Client.DescribeStackEvents(ctx, &cloudformation.DescribeStackEventsInput{StackName: &s.Name})
	if noStack(err) || err == nil && len(got.StackEvents) == 0 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the events of the stack %s: %w", s.Name, err)
	}
	return aws.ToString(got.StackEvents[0].EventId), nil
}

// since returns the stack's events that follow the event with the ID in after, the oldest first.
func (s namedStack) since(ctx context.Context, stack, after string) ([]types.StackEvent, error) {
	var out []types.StackEvent
	in := &cloudformation.DescribeStackEventsInput{StackName: &stack}
	for {
		got, err := s.Client.DescribeStackEvents(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("read the events of the stack %s: %w", s.Name, err)
		}
		for _, e := range got.StackEvents {
			if aws.ToString(e.EventId) == after {
				slices.Reverse(out)
				return out, nil
			}
			out = append(out, e)
		}
		if in.NextToken = got.NextToken; in.NextToken == nil {
			slices.Reverse(out)
			return out, nil
		}
	}
}

// await waits until no operation is in progress on the stack. It calls onEvent with each event that follows the
// event with the ID in after. If the operation fails, the error names the first resource that failed, with the
// reason.
func (s namedStack) await(ctx context.Context, stack, after string, onEvent func(stackEvent)) error {
	var cause *stackEvent
	for {
		d, err := s.describe(ctx, stack)
		if err != nil {
			return err
		}
		if d.Status == "" {
			return nil // deleted
		}
		events, err := s.since(ctx, stack, after)
		if err != nil {
			return err
		}
		for _, x := range events {
			e := stackEvent{aws.ToString(x.LogicalResourceId), aws.ToString(x.ResourceType), string(x.ResourceStatus), aws.ToString(x.ResourceStatusReason)}
			after = aws.ToString(x.EventId)
			onEvent(e)
			if cause == nil && e.failed() {
				cause = &e
			}
		}
		switch {
		case strings.HasSuffix(d.Status, "_IN_PROGRESS"):
			if err := s.Pause(ctx); err != nil {
				return err
			}
		case cause != nil:
			return fmt.Errorf("the stack %s is %s: %s (%s) failed: %s", s.Name, d.Status, cause.Resource, cause.Type, cause.Reason)
		case d.Status == "CREATE_COMPLETE" || d.Status == "UPDATE_COMPLETE" || d.Status == "DELETE_COMPLETE":
			return nil
		default:
			return fmt.Errorf("the stack %s is %s: %s", s.Name, d.Status, d.Reason)
		}
	}
}
