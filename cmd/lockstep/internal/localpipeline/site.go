package localpipeline

import "github.com/lockstep-iac/lockstep/functions/pipeline/pagedata"

// Site returns the pages of the machine's records. web is the address of GitHub's web pages, without a slash at
// the end; "" if unknown.
func (m *Machine) Site(web string) pagedata.Site {
	return pagedata.Site{
		Records: m.Data.Records, Artifacts: m.Data.Artifacts, Chains: m.Data.Chains, Where: m.Pipeline.Where, Secrets: m.Pipeline.Secrets,
		Web: web, All: m.Data.Records.ListAll, Wait: m.changed.Wait,
	}
}
