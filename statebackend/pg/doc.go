// Package pg keeps states in a PostgreSQL database. It is the backend "pg". Terraform and OpenTofu can read and
// write the same states, and each tool waits for the locks of the others.
//
// # What is stored
//
// A state is a row of the table "states" in the schema of the block: id, name (of the workspace) and data (the
// state as text). The ids come from the sequence public.global_states_id_seq, so they are unique in the database.
//
// Source: https://developer.hashicorp.com/terraform/language/backend/pg
//
// # Locks
//
// A lock is an advisory lock of a database session, with the row's id as its key. The database releases the lock
// when the session ends. So the lock of a dead process needs no person and no lease. If the machine of the process
// dies, the database notices after about a minute: the session asks for TCP keepalives.
//
// The stock tools take a second lock while they add a workspace: the key -1 (Terraform), or a hash of schema and
// table (OpenTofu). Package pg does not take these keys. But it takes no lock while another session has one of
// them. Only a row can be locked, so [workspace.Lock] adds a row if there is none: with an empty state, as the
// stock tools do. Unlock removes the row again, unless a state was stored. An empty state that a dead process
// left counts as no state.
//
// An advisory lock has no place for [statebackend.LockInfo]. So each statement of the session has it in a comment.
// The view pg_stat_activity shows the session's last statement to the same role, and to superusers.
//
// # Writes
//
// A write is one statement, with the hash of the previous state as its condition. A writer with a lock writes in
// the session of the lock, on condition that the session still has the lock. So a writer whose lock is lost cannot
// write, even if nobody has noticed the loss.
//
// After a death in any statement, the database has the old bytes or the new ones.
//
// # Gaps
//
// The backend has no journal: an apply that dies between two writes of the state leaves no record.
//
// A pooler that gives each transaction another session (PgBouncer in its transaction mode) cannot keep advisory
// locks. Lock or Put fails there: Lock does not take a lock that its session has already, and Put needs the lock in
// its session. The stock tools do not notice such a pooler.
//
// Start at [Open].
package pg
