package dispatch

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// Release ends the claim that somebody has on a state, by [places.Place.String], and
// returns it; nil if nobody has one. It is for whoever runs Lockstep: a state that is
// handed to another repository belongs to the first one until then, whatever is closed,
// merged or deleted there.
func Release(ctx context.Context, records pipeline.Records, place string) (*places.Claim, error) {
	rec, err := records.Get(ctx, places.ClaimKey(place))
	if err != nil || rec.Version == "" {
		return nil, err
	}
	c, err := places.DecodeClaim(rec.Value)
	if err != nil {
		return nil, err
	}
	return c, records.Delete(ctx, rec.Key, rec.Version)
}
