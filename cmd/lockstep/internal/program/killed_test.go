package program

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

const queue = labHead + `
resource "lab_thing" "a" {
  count   = 20
  name    = "a${count.index}"
  trouble = "create-300"
}
`

// An apply that is killed loses the call under way and the object of the last moment: the
// state is written behind the walk.
func TestKilledBehindTheWalk(t *testing.T) {
	t.Parallel()
	for _, made := range []int{3, 7} {
		t.Run(fmt.Sprint(made), func(t *testing.T) {
			t.Parallel()
			d := newLab(t, "main.tf", queue)
			d.want(0, "init")
			r := d.start("apply -auto-approve -parallelism=1")
			objects := func() int {
				names, err := filepath.Glob(d.file("lab/lab_thing/*.json"))
				if err != nil {
					t.Fatal(err)
				}
				return len(names)
			}
			programtest.WaitFor(t, "objects are made", func() bool { return objects() >= made })
			r.signal(syscall.SIGKILL)
			r.end()
			d.want(0, "show -json")
			stored := 0
			if d.has("terraform.tfstate") {
				stored = strings.Count(d.read("terraform.tfstate"), `"index_key":`)
			}
			out := d.want(0, "state list").Out
			if exist, known := objects(), strings.Count(out, "lab_thing.a["); known < exist-2 || known > exist {
				t.Errorf("%d objects exist, and %d are in the state", exist, known)
			}
			pulled := d.want(0, "state pull")
			// Where the last save of the state came after the last object, there is nothing to recover.
			if stored < strings.Count(out, "lab_thing.a[") && !strings.Contains(pulled.Stderr, "Recovered from an interrupted apply") {
				t.Errorf("%d objects are stored of these, and state pull tells of no recovery: %s\n%s", stored, pulled.Stderr, out)
			}
			if n := len(idsInState(t, d)); n != strings.Count(out, "lab_thing.a[") || strings.Contains(pulled.Out, "Warning") {
				t.Errorf("the pulled state has %d objects, and the listed one %d:\n%s", n, strings.Count(out, "lab_thing.a["), pulled.Out)
			}
		})
	}
}
