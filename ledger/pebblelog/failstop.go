package pebblelog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A failstop is a file system that stops at the first error of a write, as if the power had gone:
// from then on nothing reaches the disk any more. Pebble cannot go on after such errors either, but
// it panics, holding locks, or ends the process. So it is told that all is well. What it still
// writes is kept in memory, until it is closed; what it asked to be durable is not, and the owner
// of the failstop must not believe any success once failure returns an error.
//
// What the disk then holds is what a crash at that moment could have left, and opening the folder
// again repairs it as it does after a crash.
type failstop struct {
	vfs.FS
	stopped atomic.Bool // set once err is set

	mu   sync.Mutex
	err  error           // the first failure
	ram  *vfs.MemFS      // files created or completed after it
	gone map[string]bool // files removed after it, which the disk still has
}

func newFailstop(fs vfs.FS) *failstop { return &failstop{FS: fs} }

// failure returns the error that stopped the file system.
func (s *failstop) failure() error {
	if !s.stopped.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// fail stops the file system.
func (s *failstop) fail(step string, err error) {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		step = "disk full: " + step
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("%s: %w", step, err)
		s.ram, s.gone = vfs.NewMem(), map[string]bool{}
		s.stopped.Store(true)
	}
}

// do runs one writing operation, unless the file system has stopped. It tells whether the operation
// took effect on the disk; if not, it has to be done in memory.
func (s *failstop) do(step, name string, op func() error) bool {
	if s.stopped.Load() {
		return false
	}
	if err := op(); err != nil {
		s.fail(step+" "+name, err)
		return false
	}
	return true
}

// create makes a new file in memory.
func (s *failstop) create(name string) vfs.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.gone, name)
	if err := s.ram.MkdirAll(s.FS.PathDir(name), 0o755); err != nil {
		panic("pebblelog: a folder in memory: " + err.Error())
	}
	f, err := s.ram.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		panic("pebblelog: a file in memory: " + err.Error())
	}
	return f
}

// at returns the file system that has the current state of a file.
func (s *failstop) at(name string) (vfs.FS, error) {
	if !s.stopped.Load() {
		return s.FS, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.ram.Stat(name); err == nil {
		return s.ram, nil
	}
	if s.gone[name] {
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	}
	return s.FS, nil
}

// settle makes the names in a folder durable before a marker of Pebble's there comes or goes. Pebble
// syncs the folder only after both, so a crash in between could keep the marker and lose the file it
// names, or lose the new marker after the old one.
func (s *failstop) settle(name string) error {
	if !strings.HasPrefix(s.FS.PathBase(name), "marker.") {
		return nil
	}
	dir, err := s.FS.OpenDir(s.FS.PathDir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func (s *failstop) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	var f vfs.File
	s.do("sync failed: folder of", name, func() error { return s.settle(name) })
	if s.do("creating", name, func() (err error) { f, err = s.FS.Create(name, category); return }) {
		return &file{File: f, fs: s, name: name}, nil
	}
	return s.create(name), nil
}

// ReuseForWrite creates newname: Pebble treats the old contents as garbage.
func (s *failstop) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	var f vfs.File
	if s.do("reusing", oldname, func() (err error) { f, err = s.FS.ReuseForWrite(oldname, newname, category); return }) {
		return &file{File: f, fs: s, name: newname}, nil
	}
	return s.create(newname), nil
}

func (s *failstop) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	fs, err := s.at(name)
	if err != nil {
		return nil, err
	}
	return fs.Open(name, opts...)
}

func (s *failstop) OpenDir(name string) (vfs.File, error) {
	f, err := s.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &file{File: f, fs: s, name: name, dir: true}, nil
}

func (s *failstop) Stat(name string) (vfs.FileInfo, error) {
	fs, err := s.at(name)
	if err != nil {
		return nil, err
	}
	return fs.Stat(name)
}

func (s *failstop) Remove(name string) error {
	if !s.do("sync failed: folder of", name, func() error { return s.settle(name) }) {
		return s.removed(name)
	}
	err := s.FS.Remove(name)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.fail("removing "+name, err)
	return s.removed(name)
}

func (s *failstop) removed(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone[name] = true
	_ = s.ram.Remove(name) // it need not be there
	return nil
}

func (s *failstop) Link(oldname, newname string) error {
	s.do("linking", newname, func() error { return s.FS.Link(oldname, newname) })
	return nil
}

// Rename after the failure is not seen by Open: Pebble renames only what it reads at its next start.
func (s *failstop) Rename(oldname, newname string) error {
	s.do("renaming", oldname, func() error { return s.FS.Rename(oldname, newname) })
	return nil
}

func (s *failstop) MkdirAll(dir string, perm os.FileMode) error {
	s.do("creating folder", dir, func() error { return s.FS.MkdirAll(dir, perm) })
	return nil
}

func (s *failstop) Unwrap() vfs.FS { return s.FS }

// A file is open for writing, or a folder open for syncing.
type file struct {
	vfs.File
	fs   *failstop
	name string
	dir  bool

	// Pebble writes to a file from one goroutine at a time, so these need no lock.
	size int64    // bytes written to the disk
	ram  vfs.File // takes the file's place after a failure
}

// inRAM returns the file's continuation in memory, with what the disk has of it.
func (f *file) inRAM() vfs.File {
	if f.ram == nil {
		f.ram = f.fs.create(f.name)
		if r, err := f.fs.FS.Open(f.name); err == nil {
			// A short copy only makes Pebble's later reading fail, which it reports.
			_, _ = io.Copy(f.ram, io.LimitReader(r, f.size))
			_ = r.Close()
		}
	}
	return f.ram
}

func (f *file) Write(p []byte) (int, error) {
	if f.fs.do("writing", f.name, func() error {
		n, err := f.File.Write(p)
		if err == nil && n < len(p) {
			err = io.ErrShortWrite
		}
		if err == nil {
			f.size += int64(n)
		}
		return err
	}) {
		return len(p), nil
	}
	return f.inRAM().Write(p)
}

func (f *file) Sync() error {
	f.fs.do("sync failed:", f.name, f.File.Sync)
	return nil
}

func (f *file) SyncData() error {
	f.fs.do("sync failed:", f.name, f.File.SyncData)
	return nil
}

func (f *file) SyncTo(length int64) (full bool, _ error) {
	f.fs.do("sync failed:", f.name, func() (err error) { full, err = f.File.SyncTo(length); return })
	return full, nil
}

func (f *file) Preallocate(offset, length int64) error {
	f.fs.do("reserving space for", f.name, func() error { return f.File.Preallocate(offset, length) })
	return nil
}

func (f *file) Close() error {
	err := f.File.Close()
	if err != nil && !f.dir && !f.fs.stopped.Load() {
		f.fs.fail("closing "+f.name, err)
	}
	if f.ram != nil {
		_ = f.ram.Close() // in memory
	}
	return nil
}

func (f *file) Stat() (vfs.FileInfo, error) {
	if f.ram != nil {
		return f.ram.Stat()
	}
	return f.File.Stat()
}
