package statebackendtest

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver "postgres"
)

// Part returns the path of an installed program or library in the directory that .ci/parts fills:
// LOCKSTEP_PARTS, or .parts in the root of the repository. If the path does not exist, the test is skipped,
// or fails if LOCKSTEP_TEST_PARTS is "require".
func Part(t testing.TB, path ...string) string {
	t.Helper()
	dir := partsDir(t)
	file := filepath.Join(append([]string{dir}, path...)...)
	if _, err := os.Stat(file); err == nil {
		return file
	}
	Missing(t, fmt.Sprintf("%s is not in %s: .ci/parts installs it", filepath.Join(path...), dir))
	return ""
}

// Missing ends a test that needs something which this machine does not have. The test is skipped, or fails if
// LOCKSTEP_TEST_PARTS is "require".
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("LOCKSTEP_TEST_PARTS") == "require" {
		t.Fatal(what)
	}
	t.Skip(what)
}

func partsDir(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("LOCKSTEP_PARTS"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, ".parts")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}

// These are the credentials that the server of StartVersitygw accepts.
const (
	AccessKey = "test"
	SecretKey = "testsecret"
)

// StartVersitygw starts a real S3 server with an empty bucket named "states", and returns its URL. The server
// stops at the end of the test.
func StartVersitygw(t testing.TB) (url string) {
	t.Helper()
	return startVersitygw(t)
}

// StartVersionedVersitygw does the same as StartVersitygw, but the buckets of its server can keep versions.
func StartVersionedVersitygw(t testing.TB) (url string) {
	t.Helper()
	return startVersitygw(t, "--versioning-dir", t.TempDir())
}

func startVersitygw(t testing.TB, options ...string) (url string) {
	t.Helper()
	program := Part(t, "bin", "versitygw")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "states"), 0o755); err != nil {
		t.Fatal(err)
	}
	return "http://" + StartServer(t, func(address string) *exec.Cmd {
		cmd := Server(program, append(append([]string{"--port", address, "--quiet", "posix"}, options...), dir)...)
		cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey)
		return cmd
	})
}

// StartDynoxide starts a real DynamoDB server with an empty table "locks", and returns its URL. The server
// stops at the end of the test.
func StartDynoxide(t testing.TB) (url string) {
	t.Helper()
	program := Part(t, "bin", "dynoxide")
	url = "http://" + StartServer(t, func(address string) *exec.Cmd {
		host, port, _ := net.SplitHostPort(address)
		return Server(program, "serve", "--host", host, "--port", port)
	})
	makeTable(t, url)
	return url
}

// StartDynalite starts Dynalite, an emulator of DynamoDB that is independent of the usual one, Dynoxide. It has an empty
// table "locks". StartDynalite returns its URL. The server stops at the end of the test.
func StartDynalite(t testing.TB) (url string) {
	t.Helper()
	program := Part(t, "npm", "dynalite", "node_modules", "dynalite", "cli.js")
	node, err := exec.LookPath("node")
	if err != nil {
		Missing(t, "node is not installed")
	}
	url = "http://" + StartServer(t, func(address string) *exec.Cmd {
		host, port, _ := net.SplitHostPort(address)
		return Server(node, program, "--host", host, "--port", port, "--createTableMs", "0")
	})
	makeTable(t, url)
	return url
}

// makeTable creates the table "locks".
func makeTable(t testing.TB, url string) {
	t.Helper()
	table := `{"TableName":"locks","BillingMode":"PAY_PER_REQUEST",` +
		`"AttributeDefinitions":[{"AttributeName":"LockID","AttributeType":"S"}],` +
		`"KeySchema":[{"AttributeName":"LockID","KeyType":"HASH"}]}`
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/x-amz-json-1.0")
	q.Header.Set("X-Amz-Target", "DynamoDB_20120810.CreateTable")
	// The server requires a signature, but does not check it.
	q.Header.Set("X-Amz-Date", "20261101T000000Z")
	q.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20261101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(answer.Body)
		t.Fatalf("create table: %s: %s", answer.Status, body)
	}
}

// StartPostgres starts a real PostgreSQL server, and returns the connection string of an empty database. The role is
// a superuser, and its password is SecretKey. The server stops at the end of the test.
func StartPostgres(t testing.TB) (connection string) {
	t.Helper()
	server := Part(t, "npm", "postgres", "native", "bin", "postgres")
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(SecretKey), 0o600); err != nil {
		t.Fatal(err)
	}
	var notRoot []string // PostgreSQL refuses to run as root, but not as a user whose files are root's
	if os.Geteuid() == 0 {
		notRoot = []string{"unshare", "--user", "--map-user=1000"}
		if out, err := exec.Command(notRoot[0], append(notRoot[1:], "true")...).CombinedOutput(); err != nil {
			t.Skipf("PostgreSQL refuses to run as root, and this machine has no user namespaces: %v\n%s", err, out)
		}
	}
	data := filepath.Join(dir, "data")
	create := append(notRoot, filepath.Join(filepath.Dir(server), "initdb"), "-D", data, "-U", AccessKey, "--pwfile="+password,
		"--auth=scram-sha-256", "--locale=C", "--encoding=UTF8", "--no-sync", "--no-instructions")
	if out, err := exec.Command(create[0], create[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	address := StartServer(t, func(address string) *exec.Cmd {
		_, port, _ := net.SplitHostPort(address)
		// At SIGTERM the server would wait for its clients.
		return Server("sh", append(append([]string{"-c", `"$@" & server=$!; trap 'kill -QUIT $server' TERM; wait $server; wait $server`, "sh"}, notRoot...),
			server, "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "max_connections=400")...)
	})
	connection = fmt.Sprintf("postgres://%s:%s@%s/postgres?sslmode=disable", AccessKey, SecretKey, address)
	db, err := sql.Open("postgres", connection)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 1000 {
		if err = db.PingContext(t.Context()); err == nil {
			return connection
		}
		time.Sleep(20 * time.Millisecond) // it accepts connections before it is ready
	}
	t.Fatal(err)
	return ""
}

// StartFakeGCS starts a Google Cloud Storage server that others have written, with an empty bucket named "states", and
// returns its URL. The server stops at the end of the test.
func StartFakeGCS(t testing.TB) (url string) {
	t.Helper()
	program := Part(t, "bin", "fake-gcs-server")
	url = "http://" + StartServer(t, func(address string) *exec.Cmd {
		host, port, _ := net.SplitHostPort(address)
		return Server(program, "-scheme", "http", "-host", host, "-port", port, "-backend", "memory", "-public-host", address, "-external-url", "http://"+address, "-log-level", "error")
	})
	answer, err := http.Post(url+"/storage/v1/b?project=test", "application/json", strings.NewReader(`{"name":"states"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(answer.Body)
		t.Fatalf("create the bucket: %s: %s", answer.Status, body)
	}
	return url
}

// Server returns a command that runs a program until the program's standard input ends. The input ends when the
// caller closes it, and also when this process dies.
func Server(program string, args ...string) *exec.Cmd {
	return exec.Command("sh", append([]string{"-c", `"$@" & server=$!; read -r _; kill $server; wait $server`, "sh", program}, args...)...)
}

// StartServer starts a server on a free port of the loopback address, and returns the address once it accepts
// connections. command returns the command that starts the server at an address.
func StartServer(t testing.TB, command func(address string) *exec.Cmd) string {
	t.Helper()
	var output lockedBuffer
	for range 3 {
		address := FreeAddress(t)
		cmd := command(address)
		cmd.Stdout, cmd.Stderr = &output, &output
		input, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if connects(t.Context(), address) {
			t.Cleanup(func() { stop(cmd, input) })
			return address
		}
		stop(cmd, input) // another program may have taken the port
	}
	t.Fatalf("the server does not start:\n%s", output.String())
	return ""
}

func stop(cmd *exec.Cmd, input io.Closer) {
	input.Close()
	cmd.Wait()
}

// FreeAddress returns an address of this machine that nobody listens on. Its port is outside the range that systems give to
// outgoing connections (from 32768 on Linux, 49152 elsewhere). Otherwise a connection made before the server
// listens could get that very port as its own, and so connect to itself.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10000+rand.N(20000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// connects waits until a server accepts connections at the address. It returns false after 20 seconds, or if ctx ends.
func connects(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", address)
		if err == nil {
			c.Close()
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// lockedBuffer collects the output of several processes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
