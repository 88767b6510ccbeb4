package places

import (
	"slices"
	"strings"
)

// ofTheConfiguration are the arguments of the backend "s3" that select a state, or how it is stored.
var ofTheConfiguration = strings.Fields(`acl allowed_account_ids bucket dynamodb_table encrypt forbidden_account_ids
	force_path_style key kms_key_id max_retries region retry_mode skip_credentials_validation skip_metadata_api_check
	skip_region_validation skip_requesting_account_id skip_s3_checksum sse_customer_key sts_region use_dualstack_endpoint
	use_fips_endpoint use_lockfile use_path_style workspace_key_prefix`)

// Selects reports whether an argument of the backend "s3" selects a state, or how the state is stored. The
// other arguments select credentials, files of the machine, and hosts. Credentials include tags and names of an
// assumed role. A pull request may set none of the other arguments.
func Selects(argument string) bool { return slices.Contains(ofTheConfiguration, argument) }
