package comment

// A LineNote is a text beside some lines of a file of the repository: an error of a test or a plan, or what causes
// a change.
type LineNote struct {
	Path       string
	Line, Last int // from 1
	// Level is "notice", "warning" or "failure"; "" means "failure".
	Level   string `json:",omitempty"`
	Title   string
	Message string
}

// within shortens a note to the limits of notes, with a message of at most limit bytes, and makes it valid.
func (n LineNote) within(limit int) LineNote {
	n.Line = max(n.Line, 1)
	n.Last = max(n.Last, n.Line)
	if n.Level != "notice" && n.Level != "warning" {
		n.Level = ""
	}
	n.Path, n.Title, n.Message = cutTitle(n.Path, maxTestText), cutTitle(n.Title, maxTestText), cutTitle(n.Message, limit)
	return n
}

// maxNoteText is the maximum length of the message of a note about a plan, in bytes.
const maxNoteText = 4_000

// MaxPlanNotes is the maximum number of notes about one plan: causes, and errors or warnings.
const MaxPlanNotes = MaxCauseNotes + MaxTestNotes

// NotesWithin returns at most [MaxPlanNotes] notes, each within the limits. The notes come from the process that
// made the plan, and can contain anything.
func NotesWithin(notes []LineNote) []LineNote {
	out := make([]LineNote, 0, min(len(notes), MaxPlanNotes))
	for _, n := range notes[:min(len(notes), MaxPlanNotes)] {
		out = append(out, n.within(maxNoteText))
	}
	return out
}
