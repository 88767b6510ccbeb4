package gatefacts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// TestLinkedTo holds where the state of a project is that another one has outputs of: the author of a pull request writes
// head, and must not choose it.
func TestLinkedTo(t *testing.T) {
	t.Parallel()
	at := func(key string) places.Place { return places.Place{Backend: "s3", Bucket: "states", Key: key} }
	theirs := at("net").With("kms_key_id", "theirs")
	for _, c := range []struct {
		name       string
		granted    []runs.Run
		head, base []project.Project
		want       string
	}{
		{"as the base has it", nil, []project.Project{{Name: "net", Place: at("net")}}, []project.Project{{Name: "net", Place: at("net")}}, "s3://states/net"},
		{"moved by the head", nil, []project.Project{{Name: "net", Place: at("victim")}}, []project.Project{{Name: "net", Place: at("net")}}, "s3://states/net"},
		{"moved, and refused", []runs.Run{{ID: runs.ID{Project: "net"}, Address: runs.Address{Place: "s3://states/net"}}}, []project.Project{{Name: "net", Place: at("victim")}}, []project.Project{{Name: "net", Place: at("net")}}, "s3://states/net"},
		{"moved, and granted", []runs.Run{{ID: runs.ID{Project: "net"}, Address: runs.Address{Place: "s3://states/new"}}}, []project.Project{{Name: "net", Place: at("new")}}, []project.Project{{Name: "net", Place: at("net")}}, "s3://states/new"},
		{"with other arguments", []runs.Run{{ID: runs.ID{Project: "net"}, Address: runs.Address{Place: "s3://states/net"}}}, []project.Project{{Name: "net", Place: theirs}}, []project.Project{{Name: "net", Place: at("net")}}, "s3://states/net"},
		{"new, and not planned", nil, []project.Project{{Name: "net", Place: at("victim")}}, nil, "it is not on the base branch, and this pull request has no plan of it"},
		{"new, and refused", []runs.Run{{ID: runs.ID{Project: "net"}}}, []project.Project{{Name: "net", Place: at("victim")}}, nil, "it is not on the base branch, and its plan in this pull request has no state"},
		{"new, and granted", []runs.Run{{ID: runs.ID{Project: "net"}, Address: runs.Address{Place: "s3://states/new"}}}, []project.Project{{Name: "net", Place: at("new")}}, nil, "s3://states/new"},
		{"another one's grant", []runs.Run{{ID: runs.ID{Project: "app"}, Address: runs.Address{Place: "s3://states/victim"}}}, []project.Project{{Name: "net", Place: at("victim")}}, nil, "it is not on the base branch"},
		{"removed", []runs.Run{{ID: runs.ID{Project: "net"}, Spec: runs.Spec{Removed: true}, Address: runs.Address{Place: "s3://states/net"}}}, nil, []project.Project{{Name: "net", Place: at("net")}}, "s3://states/net"},
		{"nowhere", nil, nil, []project.Project{{Name: "net", Nowhere: "its configuration cannot be read"}}, "where its state is cannot be told: its configuration cannot be read"},
	} {
		got := linkedTo("net", c.granted, c.head, c.base)
		if text := got.Place.String() + got.Nowhere; !strings.HasPrefix(text, c.want) || got.Project != "net" || len(got.Place.Arguments) > 0 {
			t.Errorf("%s: %s", c.name, fmt.Sprint(got))
		}
	}
}
