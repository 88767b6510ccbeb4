package process

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLastWords is a table of what plugins write before they die, and of what a person
// is shown of it.
func TestLastWords(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"nothing":           {"", ""},
		"a few words":       {"no licence\nbye\n", "no licence\nbye"},
		"an unfinished one": {"no lice", "no lice"},
		"logs are left out": {`{"@level":"debug","@message":"Authorization: Bearer x"}` + "\n2026/11/01 10:00:00 [DEBUG] password=x\nreal words\n", "real words"},
		"only the last":     {strings.Repeat("noise\n", 50) + "end\n", strings.Repeat("noise\n", keepLines-1) + "end"},
		"a panic": {"noise\npanic: no such thing\n\ngoroutine 7 [running]:\nmain.create({0xe1, 0x37})\n\t/src/lab/thing.go:86 +0x528\n" +
			"main.main()\n\t/src/main.go:8\n\ngoroutine 8 [select]:\nother.wait()\n\t/src/other.go:1 +0x1\n",
			"panic: no such thing\n  at /src/lab/thing.go:86\n  at /src/main.go:8"},
		"a fault": {"panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1]\n\n" +
			"goroutine 1 [running]:\npanic({0x1, 0x2})\n\t/usr/lib/go/src/runtime/panic.go:792 +0x132\nmain.f()\n\t/src/f.go:3 +0x1\n",
			"panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1]\n  at /src/f.go:3"},
		"a long line": {strings.Repeat("x", 1000) + "\n", strings.Repeat("x", keepBytes)},
	} {
		for _, size := range []int{1, 7, 1 << 20} { // of the pieces that it comes in
			w := &lastWords{}
			for rest := tc.in; rest != ""; {
				n := min(size, len(rest))
				w.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if diff := cmp.Diff(tc.want, w.String()); diff != "" {
				t.Errorf("%s, in pieces of %d bytes:\n%s", name, size, diff)
			}
		}
	}
}
