package worker

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
)

// TestKeys is a table of names of packages, as a run's process may say them, and of their keys; "" for those that
// are refused.
func TestKeys(t *testing.T) {
	t.Parallel()
	const aws = "registry.terraform.io/hashicorp/aws"
	for name, want := range map[subprocess.PackageName]string{
		{Provider: aws, Version: "6.2.0", Platform: "linux_arm64"}:                   aws + "/terraform-provider-aws_6.2.0_linux_arm64.zip",
		{Provider: aws, Version: "6.2.0-rc1", Platform: "linux_amd64"}:               aws + "/terraform-provider-aws_6.2.0-rc1_linux_amd64.zip",
		{Provider: "hashicorp/aws", Version: "6.2.0", Platform: "linux_arm64"}:       "", // not the normal form
		{Provider: aws, Version: "v6.2.0", Platform: "linux_arm64"}:                  "",
		{Provider: aws, Version: "6.2", Platform: "linux_arm64"}:                     "",
		{Provider: aws, Version: "6.2.0/../../..", Platform: "linux_arm64"}:          "",
		{Provider: aws, Version: "../../../plans/x", Platform: "linux_arm64"}:        "",
		{Provider: aws, Version: "6.2.0", Platform: "linux_arm64/../x"}:              "",
		{Provider: "../../plans", Version: "6.2.0", Platform: "linux_arm64"}:         "",
		{Provider: "a/b/..", Version: "6.2.0", Platform: "linux_arm64"}:              "",
		{Provider: "registry.terraform.io/a/b/c", Version: "6.2.0", Platform: "x_y"}: "",
		{}: "",
	} {
		k, err := kept(name)
		if got := k.Key(); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%+v: %s, %v", name, got, err)
		}
	}
}
