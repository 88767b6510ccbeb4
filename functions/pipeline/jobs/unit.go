package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// A Unit says how Terragrunt prepares the project of a job, whose directory is a unit.
type Unit struct {
	requirements.Terragrunt
	// Source is the directory of the unit's module in the checkout; "" if it is elsewhere.
	Source string `json:",omitempty"`
	// Remote is the source of the module elsewhere, in Terragrunt's form; "" if it is in the checkout.
	Remote string `json:",omitempty"`
	// Linked are the projects of the units on which the unit depends, by the units' directories. Their states are
	// among [InputValues.Linked].
	Linked map[string]string `json:",omitempty"`
}

// UnitOutputs are the outputs of units as JSON, by the units' directories. The JSON is that of "terraform output -json".
// If it is a text instead, the text is the reason why there are no outputs.
type UnitOutputs map[string]json.RawMessage

// A PreparedUnit is the working copy that Terragrunt has prepared for a unit.
type PreparedUnit struct {
	// Dir is the directory of the root module, slash-separated and relative to the checkout.
	Dir string
	// Variables are the values of variables as texts, as in environment variables TF_VAR_x.
	Variables map[string]string `json:",omitempty"`
	// Arguments are the arguments of the command "plan" after its name, such as -var-file=x. Init are those of the
	// command "init".
	Arguments, Init []string `json:",omitempty"`
	// Problem is the reason, in plain text, if the unit cannot be prepared.
	Problem string `json:",omitempty"`
}

// A PrepareUnitFunc has Terragrunt prepare the unit of a job. The program gets the outputs, and no credentials. An
// error is a failure that may pass.
//
// source is the directory with the module's files on this machine, with two slashes before the module's directory in it;
// "" means the source in the unit.
type PrepareUnitFunc func(ctx context.Context, j Job, source string, outputs UnitOutputs) (PreparedUnit, error)

// Units are the units of a checkout. Problem is the reason, in plain text, if they cannot be found.
type Units struct {
	Units   []terragrunt.Unit
	Problem string `json:",omitempty"`
}

// A FindUnitsFunc has Terragrunt find the units in the checkout of a job: only the fields Checkout, App, Repo and
// Installation are set. It generates the units of stacks in the checkout. An error is a failure that may pass.
type FindUnitsFunc func(context.Context, Job, requirements.Terragrunt) (Units, error)

// unitsFile returns the path of the file with the units of a checkout. It is beside the checkout, so nothing in a commit
// can take its place.
func unitsFile(checkout string) string { return checkout + ".units.json" }

// SaveUnits stores the units of a checkout for [LocalProjects].
func SaveUnits(checkout string, u Units) error {
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return os.WriteFile(unitsFile(checkout), data, 0o600)
}

// RemoveUnits removes what [SaveUnits] has stored.
func RemoveUnits(checkout string) { os.Remove(unitsFile(checkout)) }

// loadUnits returns the units of a checkout.
func loadUnits(checkout string) (u Units, err error) {
	data, err := os.ReadFile(unitsFile(checkout))
	if errors.Is(err, fs.ErrNotExist) {
		return u, nil
	}
	if err != nil {
		return u, err
	}
	return u, json.Unmarshal(data, &u)
}
