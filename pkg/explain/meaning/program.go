package meaning

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// ErrorKind is the meaning of an error, whatever its source and wording.
type ErrorKind string

// The kinds of KnownError.
const (
	ErrorCommandNotFound   ErrorKind = "CommandNotFound"   // the command, or a script for it, does not exist in the container
	ErrorNotExecutable     ErrorKind = "NotExecutable"     // the command may not be executed
	ErrorWrongArchitecture ErrorKind = "WrongArchitecture" // exec format error
	ErrorWorkingDirectory  ErrorKind = "WorkingDirectory"  // the working directory does not exist, or may not be entered
	ErrorReadOnly          ErrorKind = "ReadOnly"          // the file system is read-only
	ErrorPermission        ErrorKind = "PermissionDenied"  // permission on a file is denied
	ErrorNoSpace           ErrorKind = "NoSpace"           // no space is left on a device
	ErrorNameResolution    ErrorKind = "NameResolution"    // a host name has no address
	ErrorConnectionRefused ErrorKind = "ConnectionRefused"
	ErrorCertificate       ErrorKind = "Certificate"    // the certificate of a server was not accepted
	ErrorOutOfMemory       ErrorKind = "OutOfMemory"    // the program could not allocate memory
	ErrorOutOfGPUMemory    ErrorKind = "OutOfGPUMemory" // the program could not allocate GPU memory
)

// KnownError is an error with a known meaning, reported by a program, a shell, a container runtime or the kubelet. It is
// comparable.
type KnownError struct {
	Kind ErrorKind `json:"kind"`
	// Subject is the command, file, host name or address that the message names, or the detail of an ErrorCertificate or
	// ErrorOutOfMemory; "" if it names none.
	Subject string `json:"subject,omitempty"`
}

// Container holds what advice on an error in a container depends on.
type Container struct {
	Name, Image string
	// ReadOnlyRoot reports whether the container has readOnlyRootFilesystem.
	ReadOnlyRoot bool
}

// errorRow is one kind of error.
type errorRow struct {
	kind     ErrorKind
	patterns []errorPattern
	// subject finds the subject of an error in its line if the pattern has none; nil if there is no other.
	subject *lazyregexp.Regexp
	// brief has two or three words. text is the meaning, for the end of a sentence; named is a format for an error with a
	// subject, "" for the same text.
	brief, text, named string
	// advice and namedAdvice are like text and named.
	advice, namedAdvice string
	// describe replaces text, and advise replaces advice, where they depend on more.
	describe func(subject string) string
	advise   func(*KnownError, Container) string
}

// errorPattern matches a line that reports a KnownError.
type errorPattern struct {
	// hint is contained in the lower-case form of each matching line, so that most lines need no regular expression.
	hint string
	// line has groups for the subject; the matching ones are joined with a colon.
	line *lazyregexp.Regexp
	// codes are the exit codes to which the pattern is limited; nil for all.
	codes []int32
}

// shell holds the exit codes of a shell for a command that it cannot execute, and for one that it does not find.
var shell = []int32{126, 127}

// startErrors are errors of a container runtime or a shell that cannot execute the command: runc, crun and shells. The first
// row that matches counts, here and below.
var startErrors = []errorRow{
	{
		kind: ErrorCommandNotFound,
		patterns: []errorPattern{
			{"executable file", lazyregexp.New("(?i)exec: \"([^\"]+)\": executable file not found|executable file `([^`]+)` not found"), nil},
			{"no such file", lazyregexp.New(`(?i)\bexec: "([^"]+)": (?:stat [^:]+: )?no such file or directory`), nil},
			{"no such file", lazyregexp.New("(?i)\\bexec(?: container process)?(?: \\(missing dynamic library\\?\\))? [`\"]?(/[^\\s:`\"]+)[`\"]?: no such file or directory|\\bexec user process caused:? \"?no such file or directory"), nil},
			{"command not found", lazyregexp.New(`(?i)([^\s:]+): command not found`), nil},
			{"not found", lazyregexp.New(`(?i)^\S+: (?:line )?(?:\d+: )?(?:exec: )?([^\s:]+): not found$`), shell},
			{"bad interpreter", lazyregexp.New(`(?i)([^\s:]+): bad interpreter: no such file`), shell},
			{"no such file", lazyregexp.New(`(?i)\benv: (?:can't execute )?['‘"]?([^\s'’":]+)['’"]?: no such file`), shell},
			{"no such file", lazyregexp.New(`(?i)^\S*sh: (?:line )?(?:\d+: )?(?:exec: )?([^\s:]+): no such file`), shell},
			{"open", lazyregexp.New(`(?i)\b(?:can't|cannot) open (?:file )?['‘"]?([^\s'’":]+)['’"]?: (?:\[errno 2\] )?no such file`), []int32{2, 127}},
		},
		brief:    "command not found",
		describe: notFoundText,
		advise: func(_ *KnownError, c Container) string {
			return fmt.Sprintf("fix the command of container %s, or use an image that contains it (image %s)", c.Name, c.Image)
		},
	},
	{
		kind: ErrorNotExecutable,
		patterns: []errorPattern{
			{"permission denied", lazyregexp.New("(?i)\\bexec: \"([^\"]+)\": (?:stat [^:]+: )?permission denied|\\bexec(?: container process)? [`\"]?(/[^\\s:`\"]+)[`\"]?: permission denied|\\bexec user process caused:? \"?permission denied"), nil},
			{"permission denied", lazyregexp.New(`(?i)^\S+: (?:line )?(?:\d+: )?(?:exec: )?([^\s:]+): permission denied$`), shell},
		},
		brief: "not executable",
		named: "permission denied, %s is not executable",
		text:  "permission denied, its command is not executable",
		advise: func(_ *KnownError, c Container) string {
			return fmt.Sprintf("make the command of container %s executable for the container's user and the node's architecture (image %s)", c.Name, c.Image)
		},
	},
	{
		kind: ErrorWrongArchitecture,
		patterns: []errorPattern{
			{"exec format error", lazyregexp.New("(?i)\\bexec:? (?:container process )?[`\"]?(/[^\\s:`\"]+)[`\"]?: exec format error|exec format error: '([^']+)'|\\bexec user process caused: exec format error|([^\\s:]+): (?:cannot execute binary file: )?exec format error|exec format error"), nil},
			{"cannot execute binary file", lazyregexp.New(`(?i)([^\s:]+): cannot execute binary file`), shell},
			{"ld-linux", lazyregexp.New(`(?i)(?:qemu|rosetta)\S* .*ld-linux`), nil},
		},
		brief:    "wrong architecture",
		describe: wrongArchitectureText,
		advise: func(_ *KnownError, c Container) string {
			return fmt.Sprintf("use an image of container %s for the architecture of the node, or run its pods on nodes of the image's architecture (nodeSelector kubernetes.io/arch); the image is %s", c.Name, c.Image)
		},
	},
	{
		kind: ErrorWorkingDirectory,
		patterns: []errorPattern{
			{"chdir to cwd", lazyregexp.New(`(?i)chdir to cwd \("([^"]+)"\)`), nil},
			{"chdir `", lazyregexp.New("chdir `([^`]+)`: "), nil},
		},
		brief:       "no working dir",
		named:       "its working directory %s does not exist, or it may not enter it",
		text:        "its working directory does not exist, or it may not enter it",
		namedAdvice: "correct workingDir of the container, or create %s in its image for the container's user",
		advice:      "correct workingDir of the container, or create that directory in its image for the container's user",
	},
}

// programErrors are errors of libc in several languages, and of common clients. Host names come before connections, as a
// message may mention both.
var programErrors = []errorRow{
	{
		kind: ErrorReadOnly,
		patterns: []errorPattern{
			{"read-only file", lazyregexp.New(`(?i)read-only file ?system`), nil},
		},
		subject: pathInLine,
		brief:   "read-only files",
		named:   "%s is on a read-only file system",
		text:    "it wrote to a read-only file system",
		advise:  writableAdvice,
	},
	{
		kind: ErrorNoSpace,
		patterns: []errorPattern{
			{"no space left", lazyregexp.New(`(?i)no space left on device`), nil},
			{"enospc", lazyregexp.New(`\bENOSPC\b`), nil},
			{"quota exceeded", lazyregexp.New(`(?i)disk quota exceeded`), nil},
		},
		subject:     pathInLine,
		brief:       "no space left",
		named:       "no space left on device for %s",
		text:        "no space left on device",
		namedAdvice: "give the volume or disk that has %s more space, or write less to it",
		advice:      "give the volume or disk that is full more space, or write less to it",
	},
	{
		kind: ErrorPermission,
		patterns: []errorPattern{
			{"permission denied", lazyregexp.New(`(?i)\[errno 13\] permission denied|eacces: permission denied|\(13: permission denied\)|(/[^\s]+) \(permission denied\)|(?:^|[\s'"‘(=])(/[^\s'"’:]+)['"’]?: permission denied`), nil},
			{"accessdenied", lazyregexp.New(`\bAccessDeniedException: (/\S+)`), nil},
		},
		subject:     pathInLine,
		brief:       "permission denied",
		named:       "permission denied for %s",
		text:        "permission denied",
		namedAdvice: "give the container's user access to %s: check runAsUser, and fsGroup for volumes",
		advice:      "give the container's user access to the file: check runAsUser, and fsGroup for volumes",
	},
	{
		kind: ErrorNameResolution,
		patterns: []errorPattern{
			{"could not translate", lazyregexp.New(`(?i)could not translate host name "([^"]+)"`), nil},
			{"lookup ", lazyregexp.New(`\blookup ([^\s:]+)(?: on \S+)?: .`), nil},
			{"resolve", lazyregexp.New(`(?i)(?:could not|couldn't|cannot|can't|failed to|unable to) resolve(?: host| proxy| hostname| host name| host address| address)*:? ['‘"]?([^\s'’";:,]+)`), nil},
			{"bad address", lazyregexp.New(`\bbad address '([^']+)'`), nil},
			{"unknownhost", lazyregexp.New(`\bUnknownHostException: ([^\s:]+)|\bUnknownHostException\b`), nil},
			{"unknown mysql server host", lazyregexp.New(`(?i)unknown mysql server host '([^']+)'`), nil},
			{"enotfound", lazyregexp.New(`\bgetaddrinfo ENOTFOUND ([^\s:]+)`), nil},
			{"eai_again", lazyregexp.New(`\bgetaddrinfo EAI_AGAIN ([^\s:]+)`), nil},
			{"getaddrinfo", lazyregexp.New(`(?i)\bgetaddrinfo(?: for)? ['"]?([^\s'":]+)['"]?(?: port \d+)?(?: failed)?: `), nil},
			{"temporary failure", lazyregexp.New(`(?i)temporary failure (?:in name resolution|resolving '([^']+)')`), nil},
			{"name or service not known", lazyregexp.New(`(?i)name or service not known(?: \(([^\s():]+):\d+\))?`), nil},
			{"name does not resolve", lazyregexp.New(`(?i)name does not resolve`), nil},
			{"no such host", lazyregexp.New(`(?i)no such host is known(?:\. \(([^\s():]+))?|no such host`), nil},
			{"servname", lazyregexp.New(`(?i)nodename nor servname provided`), nil},
		},
		subject:     hostInLine,
		brief:       "unresolved host",
		named:       "host name %s could not be resolved",
		text:        "a host name could not be resolved",
		namedAdvice: "check host name %s: whether its Service exists in that namespace, and whether the pod can reach the cluster's DNS",
		advice:      "check the host name: whether its Service exists in that namespace, and whether the pod can reach the cluster's DNS",
	},
	{
		kind: ErrorConnectionRefused,
		patterns: []errorPattern{
			{"connection refused", lazyregexp.New(`(?i)\bdial (?:tcp|udp)\d? (\S+): (?:connect: )?connection refused`), nil},
			{"connection refused", lazyregexp.New(`(?i)connection to server (?:at|on) "([^"]+)"(?: \([^)]*\))?,? (?:and accepting\b.*)?port (\d+) failed: connection refused`), nil},
			{"connection refused", lazyregexp.New(`(?i)\bhost='([^']+)', port=(\d+)`), nil},
			{"connect to", lazyregexp.New(`(?i)failed to connect to (\S+) port (\d+)(?: after \d+ ms)?: (?:connection refused|could ?n[o']t connect to server)`), nil},
			{"connection refused", lazyregexp.New(`(?i)connection refused`), nil},
			{"econnrefused", lazyregexp.New(`\bECONNREFUSED(?: ([^\s:,]+):(\d+))?`), nil},
		},
		subject:     addressInLine,
		brief:       "connection refused",
		named:       "connection refused by %s",
		text:        "connection refused",
		namedAdvice: "check whether something listens on %s when the Job starts, and whether address and port are correct",
		advice:      "check whether the server listens when the Job starts, and whether its address and port are correct",
	},
	{
		kind: ErrorCertificate,
		patterns: []errorPattern{
			{"x509: ", lazyregexp.New(`(x509: .+)$`), nil},
			{"certificate verify failed", lazyregexp.New(`(?i)certificate verify failed(?:: ([^(\]]+[^(\]\s]))?`), nil},
			{"ssl certificate problem", lazyregexp.New(`(?i)ssl certificate problem: (.+)$`), nil},
			{"pkix path", lazyregexp.New(`PKIX path (?:building|validation) failed`), nil},
			{"signed certificate", lazyregexp.New(`(?i)(self[- ]signed certificate(?: in certificate chain)?)`), nil},
			{"issuer certificate", lazyregexp.New(`(?i)(unable to get (?:local )?issuer certificate)`), nil},
		},
		brief:  "bad certificate",
		named:  "the certificate of a server was not accepted: %s",
		text:   "the certificate of a server was not accepted",
		advice: "give the container the certificate of the CA that signed the server's, or correct that of the server",
	},
	{
		kind: ErrorOutOfGPUMemory,
		patterns: []errorPattern{
			{"out of memory", lazyregexp.New(`(?i)\b(?:cuda|hip)\b[^:]*(?:: )?out of memory`), nil},
			{"cuda", lazyregexp.New(`\bcudaErrorMemoryAllocation\b|\bCUDA_ERROR_OUT_OF_MEMORY\b`), nil},
		},
		brief:  "out of GPU memory",
		named:  "it ran out of GPU memory: %s",
		text:   "it ran out of GPU memory",
		advice: "make the program use less GPU memory, for instance with smaller batches, or use a GPU with more",
	},
	{
		kind: ErrorOutOfMemory,
		patterns: []errorPattern{
			{"outofmemoryerror", lazyregexp.New(`\bOutOfMemoryError(?:: (.+))?$`), nil},
			{"allocate memory", lazyregexp.New(`(?i)cannot allocate memory`), nil},
			{"heap out of memory", lazyregexp.New(`(JavaScript heap out of memory)`), nil},
			{"memoryerror", lazyregexp.New(`(?:^|[\s._])_?(?:Array)?MemoryError\b`), nil},
			{"bad_alloc", lazyregexp.New(`\bstd::bad_alloc\b`), nil},
			{"runtime: out of memory", lazyregexp.New(`\bruntime: out of memory`), nil},
		},
		brief: "out of memory",
		named: "it ran out of memory: %s",
		text:  "it ran out of memory",
		advise: func(_ *KnownError, c Container) string {
			return fmt.Sprintf("raise the memory limit of container %s, or that of its program (such as the heap size), or make it use less", c.Name)
		},
	},
}

// Patterns for the subject of an error in its line, if the error's own pattern has none.
var (
	pathInLine    = lazyregexp.New(`(?:^|[\s'"‘(=])(/[^\s'"’:,);]+)`)
	hostInLine    = lazyregexp.New(`(?i)(?:\bhost(?:name)?[ :=]+['"]?|server on ['"]|connecting to )([\w][\w.-]*)`)
	addressInLine = lazyregexp.New(`(?:^|[\s'"(\[/@])((?:[a-z][\w.-]*|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\]):\d{2,5})\b`)
)

var (
	// stackFrame matches a line of a stack trace, which names no error.
	stackFrame = lazyregexp.New(`^(?:\s|at |\.\.\. \d+ more|goroutine \d+ |Traceback |main\.|\S+\.go:\d+)|^\S*$`)
	// unknownError matches a line that reports an error with an unknown meaning, after which errors in earlier lines do not
	// count.
	unknownError = lazyregexp.New(`^(?:[\w.]*(?:Error|Exception)\b|panic: |(?i:fatal|critical)\b)`)
)

// maxErrorLines is the number of lines that are searched at the end of a message.
const maxErrorLines = 40

// StartErrorIn returns the error that a container runtime or the kubelet reports about a container that it cannot start; nil
// if its meaning is unknown.
func StartErrorIn(message string) *KnownError {
	return knownError(0, strings.TrimSpace(message), slices.Concat(startErrors, setupErrors))
}

// KnownErrorIn returns the last error with a known meaning in a message, or in the end of a log, of a container with this
// exit code; nil if there is none, or if another error follows it.
func KnownErrorIn(code int32, lines ...string) *KnownError {
	var all []string
	for _, text := range lines {
		all = append(all, strings.Split(text, "\n")...)
	}
	for _, line := range slices.Backward(all[max(0, len(all)-maxErrorLines):]) {
		line = strings.TrimRight(line, " \t\r")
		for _, rows := range [][]errorRow{startErrors, programErrors} {
			if known := knownError(code, line, rows); known != nil {
				return known
			}
		}
		if !stackFrame.MatchString(line) && unknownError.MatchString(line) {
			return nil
		}
	}
	return nil
}

func knownError(code int32, line string, rows []errorRow) *KnownError {
	lower := strings.ToLower(line)
	for i := range rows {
		for _, p := range rows[i].patterns {
			if !strings.Contains(lower, p.hint) || p.codes != nil && !slices.Contains(p.codes, code) {
				continue
			}
			m := p.line.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			named := slices.DeleteFunc(m[1:], func(s string) bool { return s == "" })
			known := &KnownError{Kind: rows[i].kind, Subject: strings.Join(named, ":")}
			if pattern := rows[i].subject; pattern != nil && known.Subject == "" {
				known.Subject = strings.TrimRight(pattern.Group(line), ".")
			}
			return known
		}
	}
	return nil
}

func (e *KnownError) row() *errorRow {
	for _, rows := range [][]errorRow{startErrors, setupErrors, programErrors} {
		if i := slices.IndexFunc(rows, func(r errorRow) bool { return r.kind == e.Kind }); i >= 0 {
			return &rows[i]
		}
	}
	return &errorRow{}
}

// Brief returns the error in two or three words.
func (e *KnownError) Brief() string { return e.row().brief }

// Text returns the meaning of the error, for the end of a sentence.
func (e *KnownError) Text() string {
	r := e.row()
	if r.describe != nil {
		return r.describe(wording.Shorten(e.Subject, maxSaid))
	}
	return e.choose(r.named, r.text)
}

// Advice returns advice on the error.
func (e *KnownError) Advice(c Container) string {
	r := e.row()
	if r.advise != nil {
		return r.advise(e, c)
	}
	return e.choose(r.namedAdvice, r.advice)
}

// choose returns named with the subject if there are both, otherwise bare.
func (e *KnownError) choose(named, bare string) string {
	if e.Subject == "" || named == "" {
		return bare
	}
	return fmt.Sprintf(named, wording.Shorten(e.Subject, maxSaid))
}

func notFoundText(command string) string {
	switch {
	case command == "":
		return "its command does not exist in the container"
	case strings.Contains(command, "/"):
		return command + " does not exist in the container"
	}
	return fmt.Sprintf("command %s was not found in the container", command)
}

// wrongArchitectureText describes a file that the node cannot execute. A script without its #! line cannot be executed, either.
func wrongArchitectureText(file string) string {
	switch path.Ext(file) {
	case ".sh", ".bash", ".py", ".pl", ".rb", ".js":
		return fmt.Sprintf("exec format error, the script %s has no #! line, or the image is for another architecture than the node", file)
	}
	return "exec format error, the image is for another architecture than the node"
}

// writableAdvice returns advice on a directory that is read-only.
func writableAdvice(e *KnownError, c Container) string {
	where := "where it writes"
	if e.Subject != "" {
		where = "at " + path.Dir(e.Subject)
	}
	if c.ReadOnlyRoot {
		return fmt.Sprintf("mount a volume such as an emptyDir %s: container %s has readOnlyRootFilesystem", where, c.Name)
	}
	return fmt.Sprintf("mount a writable volume such as an emptyDir %s: that file system is read-only in container %s", where, c.Name)
}
