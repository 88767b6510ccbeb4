package rest

import (
	"encoding/json"
	"net/http"
)

// Text reads the text of a comment from a request. A text beyond GitHub's limit is a problem.
func Text(r *http.Request) (string, *Problem) {
	var in struct {
		Body *string `json:"body"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Body == nil || *in.Body == "" {
		return "", Invalid("Validation Failed: body cannot be blank")
	}
	if len([]rune(*in.Body)) > 65536 {
		return "", Invalid("Validation Failed: body is too long (maximum is 65536 characters)")
	}
	return *in.Body, nil
}
