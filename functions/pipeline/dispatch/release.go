package dispatch

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// Release ends the ownership of the state at place, a text from [places.Place.String]. It returns who owned the
// state; nil if nobody did. Operators call it. Without Release, a state that was moved to another repository
// still belongs to the first repository, even after the project there is closed, merged or deleted.
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
