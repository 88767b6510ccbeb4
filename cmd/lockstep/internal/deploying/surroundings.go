package deploying

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

// surroundings are the connections to AWS, to GitHub and to a browser. Tests replace them by fakes.
type surroundings struct {
	// aws returns the AWS configuration for a region; "" means the region that the environment selects.
	aws func(ctx context.Context, region string) (aws.Config, error)
	// browse opens a page in the browser. If it returns an error, only the address is printed.
	browse func(address string) error
	// github is the transport for requests to GitHub.
	github http.RoundTripper
	// pause is called between two requests about the progress of an operation. It waits for a while.
	pause func(ctx context.Context) error
}

// polling is the interval between requests to AWS and GitHub about progress.
const polling = 3 * time.Second

func world(a *cli.App) surroundings {
	return surroundings{
		aws: func(ctx context.Context, region string) (aws.Config, error) {
			return config.LoadDefaultConfig(ctx, config.WithRegion(region))
		},
		browse: a.Browse,
		github: http.DefaultTransport,
		pause: func(ctx context.Context) error {
			t := time.NewTimer(polling)
			defer t.Stop()
			select {
			case <-t.C:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		},
	}
}
