package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a reader understands at the first reading.
const (
	meanWords = 17 // of the sentences of a page
	mostWords = 35 // of a sentence
)

var (
	// badBeginnings are first words of sentences whose subject comes last.
	badBeginnings = regexp.MustCompile(`^(Of|What|Where|Whose|That|Wanted)\b[^?]*$`)
	// givenUp are words that a reader does not know in their meaning here, and patterns that need a second reading.
	givenUp = regexp.MustCompile(`(?i)\b(stray|lifted|given free|comes to|mend(s|ed)?|the one before|another's|holds|(is|are|was|were|be|been) told|is about|of which|but for|none that|one can|any more than)\b`)
)

// names is a list of names or pieces of code. Nobody reads it word by word, so it counts as one word.
var names = regexp.MustCompile(`code(, code){3,}`)

// texts are the files for people, from the repository's directory.
var texts = []string{
	"README.md", ".github/*.md", "cmd/docs/*.md", "cmd/docs/*/*.md",
	"functions/comment/testdata/*.md", "functions/comment/*/testdata/*.md",
}

// TestProse holds that texts for people have short sentences, which begin with their subject, and words that everybody knows.
func TestProse(t *testing.T) {
	t.Parallel()
	for _, pattern := range texts {
		names, err := fs.Glob(os.DirFS("../.."), pattern)
		if err != nil || len(names) == 0 && !strings.HasPrefix(pattern, ".") {
			t.Errorf("%s: there is no such file", pattern)
		}
		for _, name := range names {
			data, err := os.ReadFile(filepath.Join("../..", name))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range wrongProse(string(data)) {
				t.Errorf("%s:%s", name, w)
			}
		}
	}
}

// wrongProse returns what is wrong with the sentences of a Markdown text, each with its line.
func wrongProse(text string) (wrong []string) {
	all, words := 0, 0
	for _, s := range sentences(text) {
		n := len(strings.Fields(s.text))
		all, words = all+1, words+n
		if n > mostWords {
			wrong = append(wrong, fmt.Sprintf("%d: %d words in a sentence, more than %d: %s", s.line, n, mostWords, s.text))
		}
		if m := badBeginnings.FindStringSubmatch(s.text); m != nil {
			wrong = append(wrong, fmt.Sprintf("%d: a sentence begins with %q: %s", s.line, m[1], s.text))
		}
		if m := givenUp.FindString(s.text); m != "" {
			wrong = append(wrong, fmt.Sprintf("%d: %q is no word for readers: %s", s.line, m, s.text))
		}
	}
	if all > 0 && float64(words)/float64(all) > meanWords {
		wrong = append(wrong, fmt.Sprintf("1: a sentence has %.1f words in the mean, more than %d", float64(words)/float64(all), meanWords))
	}
	return wrong
}

// A spoken is a sentence, without its markup.
type spoken struct {
	line int
	text string
}

var (
	inlineCode = regexp.MustCompile("``.+?``|`[^`]*`")
	markup     = regexp.MustCompile(`<!--.*?-->|</?[a-z]+[^>]*>|\*\*|__|~~`)
	linkText   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	itemBegin  = regexp.MustCompile(`^\s*([-*+]|\d+[.)])\s+(\[[ x]\] )?`)
	sentenceAt = regexp.MustCompile(`[.!?]["”)]*(\s+|$)`)
	quoteMarks = regexp.MustCompile(`(?m)^ {0,3}(?:> ?)+`)
	hasLetter  = regexp.MustCompile(`[\pL\pN]`)
)

// sentences returns the sentences of a Markdown text: those of paragraphs, items and cells, without headings and code blocks. What is set
// as code counts as one word.
func sentences(text string) (all []spoken) {
	var unit strings.Builder
	begin := 0
	end := func() {
		for _, s := range split(unit.String()) {
			all = append(all, spoken{begin, s})
		}
		unit.Reset()
	}
	for l := range Lines(quoteMarks.ReplaceAllString(text, "")) {
		line, n := strings.TrimSpace(l.Text), l.Number
		if l.Code || unit.Len() == 0 && strings.HasPrefix(l.Text, "    ") { // fenced or indented
			end()
			continue
		}
		line = markup.ReplaceAllString(linkText.ReplaceAllString(inlineCode.ReplaceAllString(line, "code"), "$1"), "")
		switch item := itemBegin.FindString(line); {
		case line == "" || strings.HasPrefix(line, "#") || strings.Trim(line, "=") == "":
			end()
			continue
		case strings.HasPrefix(line, "|"):
			end()
			begin = n
			for cell := range strings.SplitSeq(strings.Trim(line, "|"), " | ") {
				unit.WriteString(cell)
				end()
			}
			continue
		case item != "":
			end()
			line = line[len(item):]
		}
		if unit.Len() == 0 {
			begin = n
		}
		unit.WriteString(names.ReplaceAllString(line, "names") + " ")
	}
	end()
	return all
}

// split splits a text without markup into sentences. A mark ends one if a capital, a number or code follows.
func split(text string) (all []string) {
	add := func(s string) {
		words := slices.DeleteFunc(strings.Fields(s), func(w string) bool { return !hasLetter.MatchString(w) })
		if len(words) > 0 && strings.Contains(s, " ") {
			all = append(all, strings.Join(words, " "))
		}
	}
	begin := 0
	for _, at := range sentenceAt.FindAllStringIndex(text, -1) {
		next := text[at[1]:]
		if next == "" || strings.ContainsAny(next[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789`\"(“") || strings.HasPrefix(next, "code") {
			add(text[begin:at[1]])
			begin = at[1]
		}
	}
	add(text[begin:])
	return all
}

func TestWrongProse(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 36) + "."
	for text, want := range map[string]string{
		"# Of titles\n\nYou plan. Lockstep applies `a. b` of v1.2, e.g. this.\n": "",
		"Short.\n\n- " + long:                                             "3: 36 words in a sentence",
		"Short.\n\n```text\n" + long + "\n```\n":                          "",
		"| a | b |\n|---|---|\n| Short. | Of these. |":                    `3: a sentence begins with "Of"`,
		"You plan.\nWhat follows is late.\n":                              `1: a sentence begins with "What"`,
		"Short.\n\n    " + long + "\n    " + long:                         "",
		"What is late?":                                                   "",
		"The lock is lifted. [It holds](x.md).":                           `1: "lifted"|1: "holds"`,
		"The household is told.":                                          `1: "is told"`,
		"`stray` is code.":                                                "",
		strings.Repeat("Word"+strings.Repeat(" word", 17)+". ", 3):        "1: a sentence has 18.0 words in the mean",
		"> Quoted\n> words are *one* sentence. <!-- Of this, nothing -->": "",
	} {
		got := wrongProse(text)
		for i, w := range strings.Split(want, "|") {
			if w == "" && len(got) == 0 || i < len(got) && w != "" && strings.HasPrefix(got[i], w) {
				continue
			}
			t.Errorf("%q: %q, want %s", text, got, want)
		}
	}
}
