package help

// FlagTexts describe the flags that libraries bring, in the words of this program, and some that several verbs have, so
// that they read the same everywhere.
func FlagTexts() map[string]string {
	return map[string]string{
		// kubectl's connection flags.
		"as":                       "Act as this user. The API server checks whether you may.",
		"as-group":                 "Act as a member of this group; may be repeated.",
		"as-uid":                   "Act as the user with this UID.",
		"as-user-extra":            "Act with this extra field of the user, as KEY=VALUE; may be repeated.",
		"cache-dir":                "Folder for what is kept about API servers.",
		"certificate-authority":    "File with the certificate that signed the API server's.",
		"client-certificate":       "File with a client certificate for TLS.",
		"client-key":               "File with the key of --client-certificate.",
		"cluster":                  "Cluster of the kubeconfig to use.",
		"context":                  "Context of the kubeconfig to use.",
		"disable-compression":      "Ask the API server for answers that are not compressed.",
		"insecure-skip-tls-verify": "Do not check the API server's certificate. Anybody in between can read and change what is sent.",
		"kubeconfig":               "The kubeconfig file.",
		"namespace":                "Namespace to work in, instead of that of the context.",
		"proxy-url":                "URL of a proxy to the API server.",
		"request-timeout":          "How long a single request may take, e.g. 30s, 2m; 0 for no limit.",
		"server":                   "Address of the API server, e.g. https://10.0.0.1:6443.",
		"tls-server-name":          "Name that the API server's certificate has to have. Default: its host name.",
		"token":                    "Bearer token for the API server.",
		"user":                     "User of the kubeconfig to use.",

		// Of printers.
		"allow-missing-template-keys": "In templates and JSONPath, a field that is missing is empty, and not an error.",
		"show-managed-fields":         "Keep metadata.managedFields in JSON and YAML.",
		"template":                    "The template of -o go-template, or the file of -o go-template-file.",

		// Logging.
		"log-flush-frequency":       "How often the log is flushed.",
		"log-json-info-buffer-size": "Alpha: bytes of buffer for info messages in JSON when streams are split; 0 for none.",
		"log-json-split-stream":     "Alpha: in JSON, errors on stderr and info messages on stdout.",
		"log-text-info-buffer-size": "Alpha: bytes of buffer for info messages in text when streams are split; 0 for none.",
		"log-text-split-stream":     "Alpha: in text, errors on stderr and info messages on stdout.",
		"logging-format":            "Format of the log: text or json.",
		"v":                         "How much is logged: 0 little, 5 every decision.",
		"vmodule":                   "Another -v for some source files, as PATTERN=N separated by commas; with the text format only.",
		"leader-elect-retry-period": "How often the Lease is tried for, and renewed.",
		"leader-elect-renew-deadline": "How long the leader tries to renew its Lease before it stops; less than\n" +
			"--leader-elect-lease-duration.",
		"leader-elect-lease-duration": "How long a Lease that is not renewed holds the others off.",
	}
}
