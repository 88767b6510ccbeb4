package architecture

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// quotation is a block that quotes a golden file, below a comment that names the file: as a quote, which GitHub renders, or in a fence,
// where folded details are shown folded. A part has some lines of the file, in their order, with "..." for lines left out.
var quotation = regexp.MustCompile("(?m)^<!-- (golden|part of): (\\S+) -->\n((?:^>.*\n)+|^```(?s:.*?)^```\n)")

var (
	hidden   = regexp.MustCompile(`(?m)^<!-- .* -->\n`)
	indented = regexp.MustCompile(`(?m)^[\t ]+`)
	details  = regexp.MustCompile(`(?s)<details><summary>(.*?)</summary>.*?</details>`)
)

// TestQuotations holds that what documents quote is what people see. -update quotes the golden files anew.
func TestQuotations(t *testing.T) {
	pages, err := filepath.Glob("../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range append(pages, "../../README.md", "../../engine/README.md", "../../statebackend/README.md", "../../github/README.md") {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		marked := strings.Count(string(data), "<!-- golden: ") + strings.Count(string(data), "<!-- part of: ")
		want := quotation.ReplaceAllStringFunc(string(data), func(block string) string {
			found, marked = found+1, marked-1
			m := quotation.FindStringSubmatch(block)
			text, err := os.ReadFile(filepath.Join("../..", m[2]))
			if err != nil {
				t.Errorf("%s: %v", page, err)
				return block
			}
			if m[1] == "part of" {
				if err := part(m[3], string(text)); err != nil {
					t.Errorf("%s quotes %s: %v", page, m[2], err)
				}
				return block
			}
			return strings.TrimSuffix(block, m[3]) + quote(m[3], hidden.ReplaceAllString(string(text), ""))
		})
		if marked != 0 {
			t.Errorf("%s has %d comments that name a golden file, and no quotation below", page, marked)
		}
		golden.Update(t, page, want)
		if diff := cmp.Diff(string(data), want); diff != "" && !golden.Updating() {
			t.Errorf("%s (-quoted +golden, -update quotes it anew):\n%s", page, diff)
		}
	}
	if found < 10 {
		t.Errorf("only %d quotations were found", found)
	}
}

// quote returns a block with the file's present text.
func quote(block, text string) string {
	text = strings.TrimRight(text, "\n")
	if block[0] == '>' {
		return strings.ReplaceAll("> "+strings.ReplaceAll(text, "\n", "\n> ")+"\n", "> \n", ">\n")
	}
	fence, _, _ := strings.Cut(block, "\n")
	return fence + "\n" + details.ReplaceAllString(text, "▸ $1") + "\n```\n"
}

// part returns an error if the file does not have the block's lines in their order, however they are indented.
func part(block, text string) error {
	_, body, _ := strings.Cut(indented.ReplaceAllString(block, ""), "\n")
	text = "\n" + indented.ReplaceAllString(text, "")
	for x := range strings.SplitSeq("\n"+strings.TrimSuffix(body, "```\n"), "\n...\n") {
		x = "\n" + strings.Trim(x, "\n") + "\n"
		_, after, ok := strings.Cut(text, x)
		if !ok {
			return fmt.Errorf("not in the file, or not behind the lines before:%s", x)
		}
		text = "\n" + after
	}
	return nil
}
