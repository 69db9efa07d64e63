package help

// FlagTexts returns descriptions in the words of this program for the flags of libraries, and common ones for flags
// of several verbs.
func FlagTexts() map[string]string {
	return map[string]string{
		// kubectl's connection flags.
		"as":                       "Impersonate this user; the API server checks whether you may.",
		"as-group":                 "Impersonate a member of this group; may be repeated.",
		"as-uid":                   "Impersonate the user with this UID.",
		"as-user-extra":            "Extra field of the impersonated user, as KEY=VALUE; may be repeated.",
		"cache-dir":                "Accepted for compatibility with kubectl; nothing is cached.",
		"certificate-authority":    "File with the certificate of the API server's certificate authority.",
		"client-certificate":       "File with a client certificate for TLS.",
		"client-key":               "File with the key of --client-certificate.",
		"cluster":                  "Name of the kubeconfig cluster to use.",
		"context":                  "Name of the kubeconfig context to use.",
		"disable-compression":      "Do not ask the API server for compressed responses.",
		"insecure-skip-tls-verify": "Do not verify the API server's certificate. Anyone in between can read and change the traffic.",
		"kubeconfig":               "Path to the kubeconfig file.",
		"namespace":                "Namespace to use instead of that of the context.",
		"proxy-url":                "URL of a proxy to the API server.",
		"request-timeout":          "How long a request waits for an answer, e.g. 2m; 0 for no limit. Default: 75s.",
		"server":                   "Address of the API server, e.g. https://10.0.0.1:6443.",
		"tls-server-name":          "Name to expect in the API server's certificate. Default: its host name.",
		"token":                    "Bearer token for the API server.",
		"user":                     "Name of the kubeconfig user to use.",

		// Logging.
		"log-flush-frequency":       "How often to flush the log.",
		"log-json-info-buffer-size": "Alpha: bytes to buffer of info messages in JSON when streams are split; 0 for none.",
		"log-json-split-stream":     "Alpha: in JSON, write errors to stderr and info messages to stdout.",
		"log-text-info-buffer-size": "Alpha: bytes to buffer of info messages in text when streams are split; 0 for none.",
		"log-text-split-stream":     "Alpha: in text, write errors to stderr and info messages to stdout.",
		"logging-format":            "Format of the log: text or json.",
		"v":                         "Log verbosity: 0 for little, 5 for every decision.",
		"vmodule":                   "Log verbosity for some source files, as PATTERN=N separated by commas; text format only.",
		"leader-elect-retry-period": "How often to try to acquire or renew the Lease.",
		"leader-elect-renew-deadline": "How long the leader tries to renew its Lease before it stops; less than " +
			"--leader-elect-lease-duration.",
		"leader-elect-lease-duration": "How long a Lease that is not renewed keeps others from taking over.",
	}
}
