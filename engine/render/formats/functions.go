package formats

import (
	"encoding/json"

	"github.com/lockstep-iac/lockstep/engine/schema"
)

// functionsFormat is the version of the format of `metadata functions -json`.
const functionsFormat = "1.0"

// Functions returns the signatures of functions by name.
func Functions(fs map[string]*schema.Function) ([]byte, error) {
	signatures, err := eachOf(fs, newFunctionJSON)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		FormatVersion string                   `json:"format_version"`
		Signatures    map[string]*functionJSON `json:"function_signatures,omitempty"`
	}{functionsFormat, signatures})
}
