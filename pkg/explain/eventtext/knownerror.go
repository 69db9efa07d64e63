package eventtext

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// errorPattern matches a line that reports a KnownError.
type errorPattern struct {
	kind explain.ErrorKind
	// hint is contained in the lower-case form of each matching line, so that most lines need no regular expression.
	hint string
	// line has groups for the subject; the matching ones are joined with a colon. If none matches, subjects finds it.
	line *lazyregexp.Regexp
	// codes are the exit codes to which the pattern is limited; nil for all.
	codes []int32
}

// shell holds the exit codes of a shell for a command that it cannot execute, and for one that it does not find.
var shell = []int32{126, 127}

// startPatterns match lines of a container runtime or a shell that cannot execute the command: runc, crun and shells. The
// first match counts, here and below.
var startPatterns = []errorPattern{
	{explain.ErrorCommandNotFound, "executable file", lazyregexp.New("(?i)exec: \"([^\"]+)\": executable file not found|executable file `([^`]+)` not found"), nil},
	{explain.ErrorCommandNotFound, "no such file", lazyregexp.New(`(?i)\bexec: "([^"]+)": (?:stat [^:]+: )?no such file or directory`), nil},
	{explain.ErrorCommandNotFound, "no such file", lazyregexp.New("(?i)\\bexec(?: container process)? [`\"]?(/[^\\s:`\"]+)[`\"]?: no such file or directory|\\bexec user process caused:? \"?no such file or directory"), nil},
	{explain.ErrorCommandNotFound, "command not found", lazyregexp.New(`(?i)([^\s:]+): command not found`), nil},
	{explain.ErrorCommandNotFound, "not found", lazyregexp.New(`(?i)^\S+: (?:line )?(?:\d+: )?(?:exec: )?([^\s:]+): not found$`), shell},
	{explain.ErrorCommandNotFound, "bad interpreter", lazyregexp.New(`(?i)([^\s:]+): bad interpreter: no such file`), shell},
	{explain.ErrorCommandNotFound, "no such file", lazyregexp.New(`(?i)\benv: (?:can't execute )?['‘"]?([^\s'’":]+)['’"]?: no such file`), shell},
	{explain.ErrorCommandNotFound, "no such file", lazyregexp.New(`(?i)^\S*sh: (?:line )?(?:\d+: )?(?:exec: )?([^\s:]+): no such file`), shell},
	{explain.ErrorCommandNotFound, "open", lazyregexp.New(`(?i)\b(?:can't|cannot) open (?:file )?['‘"]?([^\s'’":]+)['’"]?: (?:\[errno 2\] )?no such file`), []int32{2, 127}},
	{explain.ErrorNotExecutable, "permission denied", lazyregexp.New("(?i)\\bexec: \"([^\"]+)\": (?:stat [^:]+: )?permission denied|\\bexec(?: container process)? [`\"]?(/[^\\s:`\"]+)[`\"]?: permission denied|\\bexec user process caused:? \"?permission denied"), nil},
	{explain.ErrorNotExecutable, "permission denied", lazyregexp.New(`(?i)^\S+: (?:line )?(?:\d+: )?(?:exec: )?([^\s:]+): permission denied$`), shell},
	{explain.ErrorWrongArchitecture, "exec format error", lazyregexp.New("(?i)\\bexec:? (?:container process )?[`\"]?(/[^\\s:`\"]+)[`\"]?: exec format error|exec format error: '([^']+)'|\\bexec user process caused: exec format error|([^\\s:]+): (?:cannot execute binary file: )?exec format error|exec format error"), nil},
	{explain.ErrorWrongArchitecture, "cannot execute binary file", lazyregexp.New(`(?i)([^\s:]+): cannot execute binary file`), shell},
	{explain.ErrorWrongArchitecture, "ld-linux", lazyregexp.New(`(?i)(?:qemu|rosetta)\S* .*ld-linux`), nil},
	{explain.ErrorWorkingDirectory, "chdir to cwd", lazyregexp.New(`(?i)chdir to cwd \("([^"]+)"\)`), nil},
}

// programPatterns match lines of programs: errors of libc in several languages, and of common clients.
var programPatterns = []errorPattern{
	// Files.
	{explain.ErrorReadOnly, "read-only file", lazyregexp.New(`(?i)read-only file ?system`), nil},
	{explain.ErrorNoSpace, "no space left", lazyregexp.New(`(?i)no space left on device`), nil},
	{explain.ErrorNoSpace, "enospc", lazyregexp.New(`\bENOSPC\b`), nil},
	{explain.ErrorNoSpace, "quota exceeded", lazyregexp.New(`(?i)disk quota exceeded`), nil},
	{explain.ErrorPermission, "permission denied", lazyregexp.New(`(?i)\[errno 13\] permission denied|eacces: permission denied|\(13: permission denied\)|(/[^\s]+) \(permission denied\)|(?:^|[\s'"‘(=])(/[^\s'"’:]+)['"’]?: permission denied`), nil},
	{explain.ErrorPermission, "accessdenied", lazyregexp.New(`\bAccessDeniedException: (/\S+)`), nil},

	// Host names come before connections, as a message may mention both.
	{explain.ErrorNameResolution, "could not translate", lazyregexp.New(`(?i)could not translate host name "([^"]+)"`), nil},
	{explain.ErrorNameResolution, "lookup ", lazyregexp.New(`\blookup ([^\s:]+)(?: on \S+)?: .`), nil},
	{explain.ErrorNameResolution, "resolve", lazyregexp.New(`(?i)(?:could not|couldn't|cannot|can't|failed to|unable to) resolve(?: host| proxy| hostname| host name| host address| address)*:? ['‘"]?([^\s'’";:,]+)`), nil},
	{explain.ErrorNameResolution, "bad address", lazyregexp.New(`\bbad address '([^']+)'`), nil},
	{explain.ErrorNameResolution, "unknownhost", lazyregexp.New(`\bUnknownHostException: ([^\s:]+)|\bUnknownHostException\b`), nil},
	{explain.ErrorNameResolution, "unknown mysql server host", lazyregexp.New(`(?i)unknown mysql server host '([^']+)'`), nil},
	{explain.ErrorNameResolution, "enotfound", lazyregexp.New(`\bgetaddrinfo ENOTFOUND ([^\s:]+)`), nil},
	{explain.ErrorNameResolution, "eai_again", lazyregexp.New(`\bgetaddrinfo EAI_AGAIN ([^\s:]+)`), nil},
	{explain.ErrorNameResolution, "getaddrinfo", lazyregexp.New(`(?i)\bgetaddrinfo(?: for)? ['"]?([^\s'":]+)['"]?(?: port \d+)?(?: failed)?: `), nil},
	{explain.ErrorNameResolution, "temporary failure", lazyregexp.New(`(?i)temporary failure (?:in name resolution|resolving '([^']+)')`), nil},
	{explain.ErrorNameResolution, "name or service not known", lazyregexp.New(`(?i)name or service not known(?: \(([^\s():]+):\d+\))?`), nil},
	{explain.ErrorNameResolution, "name does not resolve", lazyregexp.New(`(?i)name does not resolve`), nil},
	{explain.ErrorNameResolution, "no such host", lazyregexp.New(`(?i)no such host is known(?:\. \(([^\s():]+))?|no such host`), nil},
	{explain.ErrorNameResolution, "servname", lazyregexp.New(`(?i)nodename nor servname provided`), nil},

	{explain.ErrorConnectionRefused, "connection refused", lazyregexp.New(`(?i)\bdial (?:tcp|udp)\d? (\S+): (?:connect: )?connection refused`), nil},
	{explain.ErrorConnectionRefused, "connection refused", lazyregexp.New(`(?i)connection to server (?:at|on) "([^"]+)"(?: \([^)]*\))?,? (?:and accepting\b.*)?port (\d+) failed: connection refused`), nil},
	{explain.ErrorConnectionRefused, "connection refused", lazyregexp.New(`(?i)\bhost='([^']+)', port=(\d+)`), nil},
	{explain.ErrorConnectionRefused, "connect to", lazyregexp.New(`(?i)failed to connect to (\S+) port (\d+)(?: after \d+ ms)?: (?:connection refused|could ?n[o']t connect to server)`), nil},
	{explain.ErrorConnectionRefused, "connection refused", lazyregexp.New(`(?i)connection refused`), nil},
	{explain.ErrorConnectionRefused, "econnrefused", lazyregexp.New(`\bECONNREFUSED(?: ([^\s:,]+):(\d+))?`), nil},

	// Certificates.
	{explain.ErrorCertificate, "x509: ", lazyregexp.New(`(x509: .+)$`), nil},
	{explain.ErrorCertificate, "certificate verify failed", lazyregexp.New(`(?i)certificate verify failed(?:: ([^(\]]+[^(\]\s]))?`), nil},
	{explain.ErrorCertificate, "ssl certificate problem", lazyregexp.New(`(?i)ssl certificate problem: (.+)$`), nil},
	{explain.ErrorCertificate, "pkix path", lazyregexp.New(`PKIX path (?:building|validation) failed`), nil},
	{explain.ErrorCertificate, "signed certificate", lazyregexp.New(`(?i)(self[- ]signed certificate(?: in certificate chain)?)`), nil},
	{explain.ErrorCertificate, "issuer certificate", lazyregexp.New(`(?i)(unable to get (?:local )?issuer certificate)`), nil},

	// Memory.
	{explain.ErrorOutOfGPUMemory, "out of memory", lazyregexp.New(`(?i)\b(?:cuda|hip)\b[^:]*(?:: )?out of memory`), nil},
	{explain.ErrorOutOfGPUMemory, "cuda", lazyregexp.New(`\bcudaErrorMemoryAllocation\b|\bCUDA_ERROR_OUT_OF_MEMORY\b`), nil},
	{explain.ErrorOutOfMemory, "outofmemoryerror", lazyregexp.New(`\bOutOfMemoryError(?:: (.+))?$`), nil},
	{explain.ErrorOutOfMemory, "allocate memory", lazyregexp.New(`(?i)cannot allocate memory`), nil},
	{explain.ErrorOutOfMemory, "heap out of memory", lazyregexp.New(`(JavaScript heap out of memory)`), nil},
	{explain.ErrorOutOfMemory, "memoryerror", lazyregexp.New(`(?:^|[\s._])_?(?:Array)?MemoryError\b`), nil},
	{explain.ErrorOutOfMemory, "bad_alloc", lazyregexp.New(`\bstd::bad_alloc\b`), nil},
	{explain.ErrorOutOfMemory, "runtime: out of memory", lazyregexp.New(`\bruntime: out of memory`), nil},
}

// Patterns for the subject of an error in its line, if the error's own pattern has none.
var (
	pathInLine    = lazyregexp.New(`(?:^|[\s'"‘(=])(/[^\s'"’:,);]+)`)
	hostInLine    = lazyregexp.New(`(?i)(?:\bhost(?:name)?[ :=]+['"]?|server on ['"]|connecting to )([\w][\w.-]*)`)
	addressInLine = lazyregexp.New(`(?:^|[\s'"(\[/@])((?:[a-z][\w.-]*|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\]):\d{2,5})\b`)
)

// subjects are the patterns of subjects by kind.
var subjects = map[explain.ErrorKind]*lazyregexp.Regexp{
	explain.ErrorReadOnly: pathInLine, explain.ErrorNoSpace: pathInLine, explain.ErrorPermission: pathInLine,
	explain.ErrorNameResolution: hostInLine, explain.ErrorConnectionRefused: addressInLine,
}

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
func StartErrorIn(message string) *explain.KnownError {
	return knownError(0, strings.TrimSpace(message), startPatterns)
}

// KnownErrorIn returns the last error with a known meaning in a message, or in the end of a log, of a container with this
// exit code; nil if there is none, or if another error follows it.
func KnownErrorIn(code int32, lines ...string) *explain.KnownError {
	var all []string
	for _, text := range lines {
		all = append(all, strings.Split(text, "\n")...)
	}
	for _, line := range slices.Backward(all[max(0, len(all)-maxErrorLines):]) {
		line = strings.TrimRight(line, " \t\r")
		for _, patterns := range [][]errorPattern{startPatterns, programPatterns} {
			if known := knownError(code, line, patterns); known != nil {
				return known
			}
		}
		if !stackFrame.MatchString(line) && unknownError.MatchString(line) {
			return nil
		}
	}
	return nil
}

// EndErrorIn returns the error in the termination message of a container that ended.
func EndErrorIn(c *explain.Container) *explain.KnownError {
	if explain.IsStartFailure(c.Reason) {
		return StartErrorIn(c.Message)
	}
	return KnownErrorIn(c.ExitCode, c.Message)
}

func knownError(code int32, line string, patterns []errorPattern) *explain.KnownError {
	lower := strings.ToLower(line)
	for i := range patterns {
		p := &patterns[i]
		if !strings.Contains(lower, p.hint) || p.codes != nil && !slices.Contains(p.codes, code) {
			continue
		}
		m := p.line.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		named := slices.DeleteFunc(m[1:], func(s string) bool { return s == "" })
		known := &explain.KnownError{Kind: p.kind, Subject: strings.Join(named, ":")}
		if pattern := subjects[p.kind]; pattern != nil && known.Subject == "" {
			known.Subject = strings.TrimRight(pattern.Group(line), ".")
		}
		return known
	}
	return nil
}
