package statebackend_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/local"
)

// A change of a state locks it, reads it, writes it on condition that nobody else has, and unlocks it. Here the
// state is a file; packages s3 and http open other places, and all that follows Open is the same.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "states")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	backend, err := local.Open(map[string]any{"path": "network.tfstate"}, local.Options{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	mine, err := backend.Open(statebackend.DefaultWorkspace)
	if err != nil {
		log.Fatal(err)
	}
	id, err := mine.Lock(ctx, statebackend.NewLockInfo("OperationTypeApply", "1.0.0"))
	if err != nil {
		log.Fatal(err)
	}

	// Whoever comes now is told who holds the lock.
	other, err := backend.Open(statebackend.DefaultWorkspace)
	if err != nil {
		log.Fatal(err)
	}
	_, err = other.Lock(ctx, statebackend.NewLockInfo("OperationTypePlan", "1.0.0"))
	var locked *statebackend.LockedError
	fmt.Println("locked:", errors.As(err, &locked) && locked.Info.ID == id)

	before, err := mine.Get(ctx)
	if err != nil {
		log.Fatal(err)
	}
	after, err := mine.Put(ctx, []byte(`{"serial": 1}`), before.Version)
	if err != nil {
		log.Fatal(err)
	}

	// A writer that has read the version before does not overwrite it.
	_, err = mine.Put(ctx, []byte(`{"serial": 2}`), before.Version)
	var conflict *statebackend.ConflictError
	fmt.Println("conflict:", errors.As(err, &conflict))

	if err := mine.Unlock(ctx, id); err != nil {
		log.Fatal(err)
	}
	stored, err := other.Get(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(stored.Bytes), stored.Version == after)

	// Output:
	// locked: true
	// conflict: true
	// {"serial": 1} true
}
