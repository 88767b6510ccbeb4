package localstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Queue implements pipeline.Queue and behaves like an SQS FIFO queue. The messages of a group are delivered
// one after the other. A message that was sent twice is delivered once, and a message that was not handled is
// delivered again. After the maximum number of attempts, a message goes to a queue of dead letters, so that
// its group continues. Repositories take turns: even if one repository has many messages, another repository
// waits for only one of them. The messages of a repository are delivered in the order of sending.
type Queue struct {
	// Lease is how long a message belongs to a process that has died; 0 means 30 s. A living process renews the
	// lease.
	Lease time.Duration

	db   *database
	wake chan struct{} // holds one value if there may be something to do
}

const (
	// remember is how long the ID of a message is known, as in SQS. Source:
	// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html
	remember     = 5 * time.Minute
	defaultLease = 30 * time.Second
	// deadPrefix is the prefix for the queues of dead letters.
	deadPrefix = "dead/"
)

// Send implements pipeline.Queue.
func (q *Queue) Send(ctx context.Context, m pipeline.Message) error {
	body, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("localstore: encode message %s: %v", m.ID, err))
	}
	if len(body) > pipeline.MaxMessage {
		return fmt.Errorf("send message %s: %d bytes are more than %d", m.ID, len(body), pipeline.MaxMessage)
	}
	if err := q.send(ctx, m, body); err != nil {
		return fmt.Errorf("send message %s: %w", m.ID, err)
	}
	q.signal()
	return nil
}

func (q *Queue) send(ctx context.Context, m pipeline.Message, body []byte) error {
	db, err := q.db.get(ctx)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	now := time.Now()
	if _, err := tx.ExecContext(ctx, "DELETE FROM sent WHERE at < ?", now.Add(-remember).UnixMilli()); err != nil {
		return err
	}
	queue := string(m.Queue())
	result, err := tx.ExecContext(ctx, "INSERT INTO sent (queue, id, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", queue, pipeline.Qualified(m.Pull.App, m.ID), now.UnixMilli())
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO message (queue, grp, body) VALUES (?, ?, ?)", queue, m.Group(), body); err != nil {
		return err
	}
	return tx.Commit()
}

// Ahead returns how many plans of a repository are delivered before a plan that is sent now. about names the
// repository. [pipeline.Ahead] calls this method.
func (q *Queue) Ahead(ctx context.Context, about pipeline.Pull) (n int, err error) {
	db, err := q.db.get(ctx)
	if err == nil {
		repo, _, _ := strings.Cut(pipeline.Message{Kind: pipeline.ToPlan, Pull: about}.Group(), "/")
		err = db.QueryRowContext(ctx, "SELECT count(*) FROM message WHERE queue = ? AND grp >= ? AND grp < ?", string(pipeline.Plans), repo+"/", repo+"0").Scan(&n)
	}
	return n, wrap("count the plans of a repository", err)
}

// signal wakes a goroutine of this process that waits for messages.
func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// A claimed is a message that was delivered.
type claimed struct {
	pipeline.Message
	// on is the queue that delivered the message. It is stored, because this version may not know the kind of
	// the message.
	on       pipeline.QueueName
	seq      int64
	claim    string
	receives int
	reason   string // why the message is a dead letter; "" if it is not one
}

// claim takes the first message of a group in which no message is being handled. It chooses the repository
// whose last turn is the longest ago. If hurry is set, claim does not wait for the delay after a failed
// attempt. ok is false if there is no such message now.
func (q *Queue) claim(ctx context.Context, hurry bool) (c claimed, ok bool, err error) {
	db, err := q.db.get(ctx)
	if err != nil {
		return c, false, err
	}
	now := time.Now()
	// Usually there is no message. This query finds that without blocking other writers.
	var any bool
	err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM message WHERE ready <= ? OR (? AND claim = ''))", now.UnixMilli(), hurry).Scan(&any)
	if err != nil || !any {
		return c, false, err
	}
	// Both statements are one transaction. Otherwise another worker could release a message after its last
	// attempt in between, and the message would be tried once too often.
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return c, false, err
	}
	defer tx.Rollback()
	_, err = tx.ExecContext(ctx, `
		UPDATE message SET queue = ?1 || queue, receives = 0, ready = 0, claim = '',
			error = CASE error WHEN '' THEN 'whoever handled it died' ELSE error END
		WHERE receives >= CASE queue WHEN ?4 THEN ?5 ELSE ?2 END AND ready <= ?3 AND queue NOT LIKE ?1 || '%'`,
		deadPrefix, pipeline.MaxReceives, now.UnixMilli(), string(pipeline.Applies), pipeline.Applies.Receives())
	if err != nil {
		return c, false, err
	}
	var queue, repo string
	var body []byte
	c.claim = rand.Text()
	err = tx.QueryRowContext(ctx, `
		UPDATE message SET claim = ?1, ready = ?2, receives = receives + 1
		WHERE seq = (
			SELECT seq FROM message AS m
			WHERE (ready <= ?3 OR (?4 AND claim = ''))
				AND NOT EXISTS (SELECT 1 FROM message AS o WHERE o.queue = m.queue AND o.grp = m.grp AND o.seq < m.seq)
			ORDER BY (SELECT nr FROM turn WHERE turn.repo = `+repoOf+`), seq LIMIT 1)
		RETURNING seq, queue, body, receives, error, `+repoOf,
		c.claim, now.Add(q.lease()).UnixMilli(), now.UnixMilli(), hurry,
	).Scan(&c.seq, &queue, &body, &c.receives, &c.reason, &repo)
	if errors.Is(err, sql.ErrNoRows) {
		return c, false, tx.Commit()
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO turn (repo) VALUES (?)", repo)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return c, false, err
	}
	c.on = pipeline.QueueName(queue)
	if len(queue) < len(deadPrefix) || queue[:len(deadPrefix)] != deadPrefix {
		c.reason = ""
	}
	if err := json.Unmarshal(body, &c.Message); err != nil {
		return c, false, fmt.Errorf("read message %d: %w", c.seq, err)
	}
	return c, true, nil
}

// repoOf is the SQL expression for the repository of a message with its App: see [pipeline.Message.Group].
const repoOf = "substr(grp, 1, instr(grp, '/') - 1)"

func (q *Queue) lease() time.Duration {
	if q.Lease == 0 {
		return defaultLease
	}
	return q.Lease
}

// keep renews the claim of this process on a message. It returns false if the claim was no longer valid.
func (q *Queue) keep(ctx context.Context, c claimed) (bool, error) {
	n, err := q.db.exec(ctx, "UPDATE message SET ready = ? WHERE seq = ? AND claim = ?", time.Now().Add(q.lease()).UnixMilli(), c.seq, c.claim)
	return n > 0, err
}

// remove removes a handled message, unless another process has taken it.
func (q *Queue) remove(ctx context.Context, c claimed) error {
	_, err := q.db.exec(ctx, "DELETE FROM message WHERE seq = ? AND claim = ?", c.seq, c.claim)
	return err
}

// release returns a message to the queue after an error, to be delivered again after a pause.
func (q *Queue) release(ctx context.Context, c claimed, pause time.Duration, reason error) error {
	_, err := q.db.exec(ctx, "UPDATE message SET claim = '', ready = ?, error = ? WHERE seq = ? AND claim = ?",
		time.Now().Add(pause).UnixMilli(), reason.Error(), c.seq, c.claim)
	return err
}

// unhand returns a message to the queue as if the message had never been delivered.
func (q *Queue) unhand(ctx context.Context, c claimed) error {
	_, err := q.db.exec(ctx, "UPDATE message SET claim = '', ready = 0, receives = receives - 1 WHERE seq = ? AND claim = ?", c.seq, c.claim)
	return err
}

// Waiting returns how many messages are not handled, including dead letters and those in progress.
func (q *Queue) Waiting(ctx context.Context) (int, error) {
	db, err := q.db.get(ctx)
	if err != nil {
		return 0, fmt.Errorf("count messages: %w", err)
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM message").Scan(&n); err != nil {
		return 0, fmt.Errorf("count messages: %w", err)
	}
	return n, nil
}
