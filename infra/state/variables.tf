variable "bucket" {
  description = "The name of the bucket, globally unique."
  type        = string
}

variable "table" {
  description = "The name of the table for locks and digests; empty for none, if every backend block has `use_lockfile = true`."
  type        = string
  default     = "lockstep-locks"
}

variable "keep_versions_days" {
  description = "How long an old version of a state is kept, in days; the last twenty are kept longer."
  type        = number
  default     = 365

  validation {
    condition     = var.keep_versions_days >= 30
    error_message = "Old states are what mistakes are mended with: keep them for 30 days at least."
  }
}

variable "trusted_arns" {
  description = "ARNs of the users or roles that may assume the role with access to the states: those that run `lockstep serve`. Empty for no such role."
  type        = list(string)
  default     = []
}

variable "external_id" {
  description = "The external ID that they must present: `lockstep serve -state-external-id`."
  type        = string
  default     = "lockstep"
}

variable "encryption_key_arns" {
  description = "ARNs of the KMS keys that encryption blocks may name, in `key_provider \"aws_kms\"`. This module's own key is not one of them: it serves S3 only."
  type        = list(string)
  default     = []
}

variable "tags" {
  description = "Tags of all resources that can have them."
  type        = map(string)
  default     = {}
}
