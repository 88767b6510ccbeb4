package redacting

import (
	"fmt"
	"math/rand"
	"strings"
	"syscall"
	"testing"
	"time"
)

// planText returns about so many bytes that look like a plan, with a secret now and then.
func planText(r *rand.Rand, size int, secret func(int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "  # aws_instance.web[%d] will be created\n  +   tags = { \"Name\" = \"web-%d\", \"Policy\" = \"{\\\"Effect\\\":\\\"Allow\\\"}\" }\n", i, r.Int())
		if i%50 == 0 {
			fmt.Fprintf(&b, "  +   user_data = %q\n", secret(i/50))
		}
	}
	return b.String()
}

// worked is how long this process has worked: not how long others kept it waiting.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// took returns how much work it is to take so many secrets out of texts of some sizes, each at best of a few times, with
// the building of the index on its own.
func took(t *testing.T, secrets int, secret func(int) string, sizes ...int) (build time.Duration, from []time.Duration) {
	t.Helper()
	var s Secrets
	begun := worked(t)
	for i := range secrets {
		s.Text(secret(i))
	}
	s.From("x")
	build = worked(t) - begun
	for _, size := range sizes {
		text, best := planText(rand.New(rand.NewSource(1)), size, secret), time.Hour
		for range 3 {
			begun := worked(t)
			got := s.From(text)
			best = min(best, worked(t)-begun)
			if strings.Contains(got, secret(0)) || !strings.Contains(got, Hidden) {
				t.Fatal("nothing is taken out")
			}
		}
		from = append(from, best)
	}
	return build, from
}

// TestFigures holds that the time does not grow with the number of secrets, and with the
// text no more than it does, also if all secrets begin with the same letters, are one
// letter, or are long.
func TestFigures(t *testing.T) {
	for _, c := range []struct {
		name   string
		most   int // secrets
		secret func(int) string
	}{
		{"random", 10_000, func(i int) string { return fmt.Sprintf("%x-%x", rand.New(rand.NewSource(int64(i))).Int63(), i) }},
		{"alike", 10_000, func(i int) string {
			return fmt.Sprintf("arn:aws:secretsmanager:eu-central-1:123456789012:secret/%07d", i)
		}},
		{"of one letter", 2_000, func(i int) string { return strings.Repeat("a", 5+i%2000) }},
		{"long", 20, func(i int) string { return strings.Repeat(fmt.Sprintf("a long secret, number %d. ", i), 2000) }},
	} {
		const size = 1 << 18
		build, all := took(t, c.most, c.secret, size, size/2)
		_, least := took(t, 1+c.most/100, c.secret, size)
		many, half, few := all[0], all[1], least[0]
		t.Logf("%s: %d secrets are prepared in %s; 256 KiB take %s, with a hundredth of them %s, half the text %s", c.name, c.most, build.Round(time.Millisecond), many.Round(time.Millisecond), few.Round(time.Millisecond), half.Round(time.Millisecond))
		const slack = 200 * time.Millisecond // for what collects garbage
		if many > 8*few+slack || many > 4*half+slack {
			t.Errorf("%s: the time grows with the secrets, or with the square of the text", c.name)
		}
	}
}
