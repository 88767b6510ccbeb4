// Package gcs keeps states in a bucket of Google Cloud Storage. It is the backend "gcs". Terraform and OpenTofu can
// read and write the same states, and each tool waits for the locks of the others.
//
// # What is stored
//
// A state is the object "<prefix>/<workspace>.tfstate". Its version is the generation of the object. Every write and
// deletion has the expected generation as its condition.
//
// A lock is the object "<prefix>/<workspace>.tflock" (package lockfile), which may have a lease. The ID of a lock is
// the one in the object. The stock tools call the object's generation the lock's ID; Unlock takes both.
//
// Sources:
//   - https://developer.hashicorp.com/terraform/language/backend/gcs
//   - https://cloud.google.com/storage/docs/json_api/v1
//   - https://cloud.google.com/storage/docs/request-preconditions
//
// # Gaps
//
// The backend has no journal: an apply that dies between two writes of the state leaves no record.
//
// A writer looks at its lock before it writes the state. Somebody may break the lock between the two requests. Then
// only the condition on the generation protects the state.
//
// The package uses the JSON API directly: the official client would make the program 27 MB larger.
//
// Start at [Open].
package gcs
