package deploying

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

// surroundings is the way to AWS, to GitHub and to a browser: tests have another.
type surroundings struct {
	// aws returns the configuration for a region; "" is that of the environment.
	aws func(ctx context.Context, region string) (aws.Config, error)
	// browse opens a page; an error shows the address alone.
	browse func(address string) error
	// github makes requests to GitHub.
	github http.RoundTripper
	// pause waits until it is worth to ask again.
	pause func(ctx context.Context) error
}

// polling is how often AWS and GitHub are asked whether something is over.
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
