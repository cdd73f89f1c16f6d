"""One model without a broker or a clock: records in, predictions, tree changes and a journal entry out."""
