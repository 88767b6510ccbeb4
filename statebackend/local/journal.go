package local

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// journalFile is the journal log of a state, in one file beside the state. The file is named as Terraform
// names the lock's description: .terraform.tfstate.journal. It implements statebackend.Log.
//
// A segment is a line "segment NUMBER LENGTH CRC", LENGTH bytes and a line feed. CRC is CRC-32C of the number
// and the bytes, in hexadecimal. An append is a write at the end and an fsync. A crash in an append leaves a
// last segment that is too short, or does not match its CRC. Nobody was told that it is stored, so readers
// skip it, and the next append overwrites it.
type journalFile struct {
	path string

	mu   sync.Mutex
	file *os.File    // nil: not open yet
	info os.FileInfo // identifies the open file
	end  int64       // of the last whole segment
	last uint64      // its number
	sum  uint32      // its CRC
	size int         // its length
	text []byte      // buffer of the last append, used again by the next
}

// Journal returns the journal log of the file that is written (see Options.StateOutPath).
func (w *workspace) Journal() statebackend.Log {
	return &journalFile{path: hidden(w.at(w.out), "journal")}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (j *journalFile) Place() string { return j.path }

// Exclusive returns true: the lock of the operating system ends exactly when its process ends.
func (j *journalFile) Exclusive() bool { return true }

func (j *journalFile) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.close()
}

func (j *journalFile) close() error {
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

func (j *journalFile) Segments(ctx context.Context, _ func(statebackend.Segment) bool) ([]statebackend.Segment, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f, err := os.Open(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	defer f.Close()
	release, err := guard(ctx, f, shared, readerPatience)
	if err != nil {
		return nil, err
	}
	defer release()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	segments, _, err := j.parse(data)
	return segments, err
}

// parse returns the complete segments, and the offset of the end of the last one.
func (j *journalFile) parse(data []byte) (segments []statebackend.Segment, end int64, err error) {
	for at := 0; at < len(data); {
		number, body, next := parseSegment(data[at:])
		if next == 0 {
			// Only the last append can have been cut off by a crash. So no segment may follow here.
			if i := bytes.Index(data[at+1:], []byte("\nsegment ")); i >= 0 {
				if _, _, whole := parseSegment(data[at+1+i+1:]); whole > 0 {
					return nil, 0, &statebackend.DamagedError{Place: j.path, Number: uint64(len(segments) + 1), Reason: "its sum does not match, and more groups follow"}
				}
			}
			break
		}
		segments = append(segments, statebackend.Segment{Number: number, Data: body})
		at += next
		end = int64(at)
	}
	return segments, end, nil
}

// parseSegment reads the first segment in data. next is the offset of its end, or 0 if there is no complete
// segment.
func parseSegment(data []byte) (number uint64, body []byte, next int) {
	line, rest, found := bytes.Cut(data, []byte("\n"))
	fields := bytes.Fields(line)
	if !found || len(fields) != 4 || string(fields[0]) != "segment" {
		return 0, nil, 0
	}
	number, err := strconv.ParseUint(string(fields[1]), 10, 64)
	length, err2 := strconv.Atoi(string(fields[2]))
	if err != nil || err2 != nil || length < 0 || length >= len(rest) || rest[length] != '\n' {
		return 0, nil, 0
	}
	body = rest[:length:length]
	if string(line) != headline(number, body) {
		return 0, nil, 0
	}
	return number, body, len(line) + 1 + length + 1
}

// headline returns the line before the bytes of a segment.
func headline(number uint64, body []byte) string {
	return fmt.Sprintf("segment %d %d %08x", number, len(body), checksum(number, body))
}

func checksum(number uint64, body []byte) uint32 {
	return crc32.Update(crc32.Checksum(binary.BigEndian.AppendUint64(nil, number), castagnoli), castagnoli, body)
}

// appendSegment appends the text of a segment to dst.
func appendSegment(dst []byte, number uint64, body []byte) []byte {
	dst = append(append(dst, headline(number, body)...), '\n')
	return append(append(dst, body...), '\n')
}

func (j *journalFile) Append(ctx context.Context, number uint64, data []byte, durable bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	release, err := j.open(ctx)
	if err != nil {
		return err
	}
	defer release()
	sum := checksum(number, data)
	if number == j.last && sum == j.sum && len(data) == j.size {
		return j.sync(durable)
	}
	if number <= j.last {
		return &statebackend.TakenError{Place: j.path, Number: number}
	}
	j.text = appendSegment(j.text[:0], number, data)
	_, err = j.file.WriteAt(j.text, j.end)
	if err == nil {
		err = j.sync(durable)
	}
	if err != nil {
		j.close() // so that the next call finds the end again
		return fmt.Errorf("write the journal: %w", err)
	}
	j.end, j.last, j.sum, j.size = j.end+int64(len(j.text)), number, sum, len(data)
	return nil
}

// sync makes all written segments durable, if durable is true. Segments that were only written outlive the
// process, since the operating system has them.
func (j *journalFile) sync(durable bool) error {
	if !durable {
		return nil
	}
	return j.file.Sync()
}

// open opens the file, if it is not open. If another process may have written or replaced the file, open looks
// for the end of the last segment. The guard is held until the caller calls release.
func (j *journalFile) open(ctx context.Context) (release func(), err error) {
	for {
		created, err := j.openFile()
		if err != nil {
			return nil, fmt.Errorf("open the journal: %w", err)
		}
		release, err := guard(ctx, j.file, exclusive, writerPatience)
		if err != nil {
			return nil, err
		}
		named, err := os.Stat(j.path)
		if err != nil || !os.SameFile(named, j.info) { // another process has removed or replaced the file
			release()
			j.close()
			continue
		}
		if err := j.seek(named.Size(), created); err != nil {
			release()
			j.close()
			return nil, err
		}
		return release, nil
	}
}

// openFile opens the file, if it is not open. If there is no file, openFile creates it; created is then true.
func (j *journalFile) openFile() (created bool, err error) {
	if j.file != nil {
		return false, nil
	}
	f, err := os.OpenFile(j.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		created = true
		f, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err != nil {
		return false, err
	}
	if j.info, err = f.Stat(); err != nil {
		return false, errors.Join(err, f.Close())
	}
	j.file, j.end = f, -1
	return created, nil
}

// seek finds the end of the last complete segment in a file of size bytes. It removes the remains of a crash
// after that end. created is set if this process has just created the file.
func (j *journalFile) seek(size int64, created bool) error {
	if j.end == size {
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(j.file, 0, size))
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	segments, end, err := j.parse(data)
	if err != nil {
		return err
	}
	j.end, j.last, j.sum, j.size = end, 0, 0, -1
	if n := len(segments); n > 0 {
		s := segments[n-1]
		j.last, j.sum, j.size = s.Number, checksum(s.Number, s.Data), len(s.Data)
	}
	if end < size {
		if err := j.file.Truncate(end); err != nil {
			return fmt.Errorf("open the journal: %w", err)
		}
	}
	if created {
		return syncDir(filepath.Dir(j.path))
	}
	return nil
}

// Drop writes the remaining segments to a new file, and renames it over the old one. If no segment remains,
// Drop removes the file. A crash leaves the old file or the new one.
func (j *journalFile) Drop(ctx context.Context, below uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := os.Stat(j.path); errors.Is(err, fs.ErrNotExist) {
		return j.close()
	}
	release, err := j.open(ctx)
	if err != nil {
		return err
	}
	defer release()
	defer j.close()
	if j.last < below {
		return os.Remove(j.path)
	}
	data, err := io.ReadAll(io.NewSectionReader(j.file, 0, j.end))
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	segments, _, err := j.parse(data)
	if err != nil {
		return err
	}
	var kept []byte
	for _, s := range segments {
		if s.Number >= below {
			kept = appendSegment(kept, s.Number, s.Data)
		}
	}
	if len(kept) == len(data) {
		return nil
	}
	return j.exchange(kept)
}

func (j *journalFile) exchange(data []byte) error {
	next := j.path + ".next"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(next, j.path)
	}
	if err != nil {
		os.Remove(next)
		return fmt.Errorf("write the journal: %w", err)
	}
	return syncDir(filepath.Dir(j.path))
}
