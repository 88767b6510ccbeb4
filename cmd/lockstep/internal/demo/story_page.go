package demo

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"regexp"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/page/signin"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var onThePage = Story{
	Name:  "page",
	Shows: "The page on AWS shows people what they may read on GitHub, and nobody else.",
	scenes: append(firstNetwork[:len(firstNetwork):len(firstNetwork)],
		scene{title: "people open the page", do: by(func(r *githubtest.Repository) { r.SetPrivate(); r.Grant("mallory", "none") }), verify: visited},
	),
}

// visited has people sign in to the page as it is on AWS, over the records of the world.
func visited(ctx context.Context, w *World) error {
	const address = "https://lockstep.example"
	w.hub.SetCallback(address + "/signed-in")
	transport := &site{github: w.hub}
	people, err := github.NewSignIn(github.SignInConfig{ClientID: github.NewSecret(githubtest.ClientID), ClientSecret: github.NewSecret(w.hub.ClientSecret()), URL: "http://127.0.0.1:1", Transport: transport})
	if err != nil {
		return err
	}
	door, err := signin.New(signin.Config{Key: secretOfPage, GitHub: people, Address: address, Serves: everything, Log: w.log})
	if err != nil {
		return err
	}
	content := w.machine.Site("https://github.com")
	content.Access, content.All, content.Wait = door, nil, nil
	transport.page = page.Handler{Site: content, Door: door, Log: w.log}.Server()
	path := page.RepositoryID{Owner: w.repo.Repo().Owner, Name: w.repo.Repo().Name}.Path()
	for _, who := range []string{"", "alice", "mallory"} {
		jar, err := cookiejar.New(nil)
		if err != nil {
			return err
		}
		browser := &http.Client{Jar: jar, Transport: transport}
		if who != "" {
			w.hub.Browse(who)
			if _, _, err := read(ctx, browser, address+"/sign-in"); err != nil {
				return err
			}
		}
		name := who
		if who == "" {
			name = "somebody who is not signed in"
		}
		for _, at := range []string{path + "/view/projects", path + "/project/network@default"} {
			status, text, err := read(ctx, browser, address+at)
			if err != nil {
				return err
			}
			shows := strings.Contains(text, "Serial") && strings.Contains(text, "#1")
			if want := who == "alice"; shows != want {
				return fmt.Errorf("%s opens %s: status %d: %s", name, at, status, text)
			}
			w.narrate("%s opens %s. The page says: %s", name, at, text)
		}
	}
	return nil
}

// secretOfPage is the key of the page.
var secretOfPage = github.NewSecret("the key of the demo's page, which has more than 32 characters")

func everything(github.Repo) bool { return true }

// A site is the network: a page, and GitHub.
type site struct{ page, github http.Handler }

// RoundTrip implements http.RoundTripper.
func (s *site) RoundTrip(req *http.Request) (*http.Response, error) {
	rec, to := httptest.NewRecorder(), s.github
	if req.URL.Host == "lockstep.example" {
		to = s.page
	}
	in := req.Clone(req.Context())
	in.Host, in.RequestURI = req.URL.Host, req.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	to.ServeHTTP(rec, in)
	res := rec.Result()
	res.Request = req
	return res, nil
}

// read opens an address and returns the text of the page, without its head.
func read(ctx context.Context, browser *http.Client, address string) (status int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, "", err
	}
	res, err := browser.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	_, main, _ := strings.Cut(string(data), `<main id="main" tabindex="-1">`)
	main, _, _ = strings.Cut(main, "</main>")
	return res.StatusCode, strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(main, " "))), " "), err
}

var tags = regexp.MustCompile(`<[^>]*>`)
