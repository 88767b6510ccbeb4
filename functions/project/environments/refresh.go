package environments

// Reads says which objects or data sources a plan reads: "" and "all" mean all of them.
type Reads string

// Affected means those that the changes of the plan can affect.
const Affected Reads = "affected"

// Refresh says what plans read from providers. It is no right, so it may be read from any commit.
type Refresh struct {
	Objects Reads `json:",omitempty"`
	// Data is about data sources. It has an effect only if Objects is [Affected].
	Data Reads `json:",omitempty"`
}
